"""What a transcriber learned, as one value: the joint model, the decoder on top of it, their reading and writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from margent.models.fitted import FittedModel, Stored, restored_training
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.models.transcriber.direct_decoding import DirectDecoder
from margent.models.transcriber.joint_grams import JointGrams
from margent.models.transcriber.options import AlignmentBeam
from margent.models.transcriber.reranking import N_WEIGHTS, CandidateLists, Reranker
from margent.parameters import LARGEST
from margent.storage import ModelFile

Decoder: TypeAlias = Reranker | DirectDecoder | None
Words = Sequence[Sequence[int]]
_DECODERS: dict[str, type[Reranker | DirectDecoder]] = {
    Reranker.kind: Reranker,
    DirectDecoder.kind: DirectDecoder,
    "rescorer": Reranker,  # what older files call them
    "search": DirectDecoder,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class TranscriberModel(FittedModel):
    """`decoder`: None where the joint model decides; `n_skipped`: pairs of the training data that have no alignment."""

    kind: ClassVar[str] = "transcriber"

    joint: JointGrams
    decoder: Decoder = None
    n_skipped: int = 0

    def candidates(self, words: Words, k: int, search: AlignmentBeam, threads: int) -> CandidateLists:
        """The k best pronunciations of each word: of the joint model, reranked, or decoded directly."""
        if self.decoder is not None:
            return self.decoder.listed(self.joint, words, k, search, threads)
        return CandidateLists.of(*self.joint.listed(words, k, search, threads))

    def best(self, words: Words, candidates: int, search: AlignmentBeam, threads: int) -> list[Sequence[int]]:
        """The best pronunciation of each word, of so many `candidates` if there is a reranker; none for a word without
        letters, or that no graphones can spell."""
        lists = self.candidates(words, candidates if isinstance(self.decoder, Reranker) else 1, search, threads)
        bounds = zip(lists.ptr[:-1].tolist(), lists.ptr[1:].tolist())
        return [
            lists.spoken(first + int(np.argmax(lists.scores[first:last]))) if word and last > first else []
            for word, (first, last) in zip(words, bounds)
        ]

    def named(self, found: Sequence[Sequence[int]]) -> list[list[str]]:
        """Phonemes by name."""
        names = self.joint.phonemes.names
        return [[names[phoneme] for phoneme in phonemes] for phonemes in found]

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        """`compact`: of the weights of the decoder those that are not zero, in 16 bits."""
        arrays = self.joint.stored()
        if self.decoder is not None and compact:
            there = np.flatnonzero(self.decoder.weights)
            arrays[f"{self.decoder.kind}.ids"] = there.astype(np.int32)
            arrays[f"{self.decoder.kind}.values"] = stored_numbers(self.decoder.weights[there], half=True)
        elif self.decoder is not None:
            arrays[self.decoder.kind] = self.decoder.weights
        return {**self.stored_training(), "skipped": int(self.n_skipped)}, arrays

    @classmethod
    def restored(cls, file: ModelFile, function: Any = None) -> TranscriberModel:
        if function is not None:
            raise ValueError("function is for models with a feature function, and a Transcriber has none")
        return cls(
            **restored_training(file),
            joint=JointGrams.restored(file),
            decoder=_restored_decoder(file),
            n_skipped=file.value("skipped", int, minimum=0),
        )


def _restored_decoder(file: ModelFile) -> Decoder:
    for name, kind in _DECODERS.items():
        if name in file.arrays:
            return kind(file.array(name, np.float32, (N_WEIGHTS,), minimum=-LARGEST, maximum=LARGEST))
        if f"{name}.ids" in file.arrays:
            ids = file.array(f"{name}.ids", np.int32, (None,), minimum=0, maximum=N_WEIGHTS - 1)
            weights = np.zeros(N_WEIGHTS, dtype=np.float32)
            weights[ids] = restored_numbers(file, f"{name}.values", True, (len(ids),))
            return kind(weights)
    return None
