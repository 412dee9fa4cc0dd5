"""Segments of frames: rows of numbers, such as speech or sensors give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.encoded import rows_of, sequence_ptr
from margent.features.feature_map import Mask, Stored
from margent.features.segment_map import EncodedSegments, Gold, Ptr, SegmentLimits, SegmentMap, gamma_features
from margent.parameters import LARGEST_WHOLE
from margent.storage import ModelFile


@dataclass(frozen=True)
class FrameFeatures:
    """What is seen of a segment of frames (paper 002, section 2.1).

    bins : how many equal parts a segment is divided into, for all labels or by label (those not named: 3)
    covariance : "full", all products of two values of a frame, or "diagonal", only squares
    components : Gaussians for each label and bin; a frame scores the best of them (footnote 3)
    durations : "gamma", the statistics log d, d and 1 of how long a segment lasts, or None
    content : "sum", statistics of frames added up, so that Gaussians have their log-likelihood as score; or "mean",
        averaged over each bin (equation 7), so that short segments count as much as long ones

    >>> FrameFeatures(bins=2, covariance="diagonal")
    FrameFeatures(bins=2, covariance='diagonal', components=1, durations='gamma', content='sum')
    """

    bins: int | Mapping[str, int] = 3
    covariance: Literal["full", "diagonal"] = "full"
    components: int = 1
    durations: Literal["gamma"] | None = "gamma"
    content: Literal["sum", "mean"] = "sum"

    def __post_init__(self) -> None:
        given = [self.bins] if not isinstance(self.bins, Mapping) else [*self.bins.values()]
        for bins in given:
            if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or not 1 <= bins <= 1000:
                raise ValueError(f"bins of FrameFeatures should be integers from 1 to 1000, got {self.bins!r}")
        if isinstance(self.components, bool) or not isinstance(self.components, (int, np.integer)):
            raise ValueError(f"components of FrameFeatures should be an integer, got {self.components!r}")
        if not 1 <= self.components <= 255:
            raise ValueError(f"components of FrameFeatures should be from 1 to 255, got {self.components!r}")
        for name, choices in (
            ("covariance", ("full", "diagonal")),
            ("durations", ("gamma", None)),
            ("content", ("mean", "sum")),
        ):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} of FrameFeatures should be one of {choices}, got {getattr(self, name)!r}")

    def bins_of(self, label: str) -> int:
        return int(self.bins.get(label, 3) if isinstance(self.bins, Mapping) else self.bins)


_MOST_DIMENSIONS = 4096
_LARGEST = 1e12
"""Squares of larger values, and their sums, could not be stored in 32 bits."""


class EncodedFrames(EncodedSegments):
    """Frames (n, D) of all sequences, standardised."""

    def __init__(self, feature_map: FrameMap, frames: NDArray[np.float32], sequence_ptr: Ptr) -> None:
        self.feature_map, self.frames, self.sequence_ptr = feature_map, frames, sequence_ptr

    def part(self, numbers: Ptr) -> EncodedFrames:
        frames = self.frames[rows_of(self.sequence_ptr, numbers)]
        return EncodedFrames(self.feature_map, frames, sequence_ptr(self.lengths[numbers]))

    def data(self, limits: SegmentLimits) -> _core.FrameData:
        features = self.feature_map.features
        return _core.FrameData(
            [features.bins_of(label) for label in limits.labels],
            limits.within(self.longest_sequence).longest.tolist(),
            int(features.components),
            features.covariance == "full",
            features.content == "mean",
            self.frames,
            self.sequence_ptr,
        )


class FrameMap(SegmentMap):
    """Frames as they are, but for the mean and the scale of each value over the training data."""

    kind = "frames"

    def __init__(self, features: FrameFeatures) -> None:
        self.features = features
        self.mean: NDArray[np.float64] | None = None
        self.scale: NDArray[np.float64] | None = None

    @property
    def n_dimensions(self) -> int | None:
        return None if self.mean is None else len(self.mean)

    def encode(self, X: Any, limits: SegmentLimits, *, grow: bool = False, gold: Gold | None = None) -> EncodedFrames:
        arrays = [frames_of(x, i, self.n_dimensions) for i, x in enumerate(X)]
        if len({array.shape[1] for array in arrays}) > 1:
            sizes = sorted({array.shape[1] for array in arrays})
            raise CorpusError(f"frames have {sizes} values; expected the same number in all sequences")
        frames = np.concatenate(arrays) if arrays else np.zeros((0, self.n_dimensions or 1))
        ptr = np.concatenate([[0], np.cumsum([len(array) for array in arrays])]).astype(np.int64)
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large is told below
            mean, scale = self.mean, self.scale
            if grow and mean is None:
                if not len(frames):
                    raise CorpusError("there is nothing to learn from: the training data have no frame")
                mean, scale = frames.mean(axis=0), frames.std(axis=0)
                scale = np.where(scale > 0, scale, 1.0)
            if mean is not None and scale is not None:
                frames = (frames - mean) / scale
            wrong = ~(np.abs(frames) < _LARGEST).all(axis=1)
        if wrong.any():
            at = int(np.argmax(wrong))
            i = int(np.searchsorted(ptr, at, side="right")) - 1
            raise CorpusError(
                f"sequence {i}, frame {at - int(ptr[i])} has a value that is too large; expected it within "
                f"{_LARGEST:g} standard deviations of the training data"
            )
        if grow:
            self.mean, self.scale = mean, scale
        return EncodedFrames(self, np.ascontiguousarray(frames, dtype=np.float32), ptr)

    def duration_features(self, most: int, longest: int) -> NDArray[np.float64]:
        return gamma_features(longest) if self.features.durations == "gamma" else np.zeros((longest + 1, 0))

    def n_content(self, limits: SegmentLimits) -> int:
        """A row for each statistic of a frame, a column for each component of each bin of each label; labels of as many
        bins are padded together. Counted here, as it may be more than native code can count to."""
        d, columns = self.n_dimensions or 1, 0
        for bins, n_labels in Counter(map(self.features.bins_of, limits.labels)).items():
            columns += int(self.features.components) * bins * _core.padded_width(n_labels)
        if columns > LARGEST_WHOLE:
            raise ValueError(
                f"bins and components of {len(limits.labels)} labels make {columns} columns of weights, expected at "
                f"most {LARGEST_WHOLE}"
            )
        return columns * ((d + 1) * (d + 2) // 2 if self.features.covariance == "full" else 2 * d + 1)

    def _empty(self) -> EncodedFrames:
        return EncodedFrames(self, np.zeros((0, self.n_dimensions or 1), dtype=np.float32), np.zeros(1, dtype=np.int64))

    def overlaid(
        self, content: NDArray[np.float32], known: NDArray[np.float32], limits: SegmentLimits, before: SegmentLimits
    ) -> NDArray[np.float32]:
        place, old_place = self.columns(limits)[2], self.columns(before)[2]
        new: NDArray[np.float32] = content.reshape(self.columns(limits)[0], -1).copy()
        old = known.reshape(len(new), -1)
        for label, name in enumerate(before.labels):
            for k in range(self.features.bins_of(name)):
                new[:, place[label, k]] = old[:, old_place[label, k]]
        return new.reshape(-1)

    def columns(self, limits: SegmentLimits) -> Any:
        """How many statistics a frame has, how many columns of weights, and which are those of [label, bin]."""
        return self._empty().data(limits).columns

    def stored(self, keep: Mask | None = None) -> Stored:
        header = asdict(self.features)
        bins = self.features.bins
        header["bins"] = {x: int(bins[x]) for x in sorted(bins)} if isinstance(bins, Mapping) else int(bins)
        assert self.mean is not None and self.scale is not None
        return {"frame_features": header}, {"frames.mean": self.mean, "frames.scale": self.scale}

    @classmethod
    def restored(cls, file: ModelFile) -> FrameMap:
        try:
            feature_map = cls(FrameFeatures(**file.value("frame_features", dict)))
        except (TypeError, ValueError) as error:
            raise file.error(f"its features are wrong: {error}") from None
        feature_map.mean = file.array("frames.mean", np.float64, (None,))
        if len(feature_map.mean) > _MOST_DIMENSIONS:
            raise file.error(f"its frames have {len(feature_map.mean)} values, expected at most {_MOST_DIMENSIONS}")
        feature_map.scale = file.array("frames.scale", np.float64, feature_map.mean.shape)
        if not np.isfinite(feature_map.mean).all() or not (feature_map.scale > 0).all() or not len(feature_map.mean):
            raise file.error("its frames have a mean that is not a number, or a scale that is not above 0")
        return feature_map


def frames_of(x: Any, i: int, dimensions: int | None) -> NDArray[np.float64]:
    """One sequence as an array (T, D) of finite numbers."""
    array = np.asarray(x)
    if array.size == 0 and array.ndim < 2:
        return np.zeros((0, dimensions or 1))
    if array.dtype.kind == "c":
        raise CorpusError(f"sequence {i}: Complex data not supported; expected real numbers")
    if array.dtype.kind == "O":
        array = _real(array, i)
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise CorpusError(
            f"sequence {i} has shape {array.shape} and type {array.dtype}; expected numbers of shape (frames, values)"
        )
    if not array.shape[1]:
        raise CorpusError(f"sequence {i}: found 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if dimensions is not None and array.shape[1] != dimensions:
        raise CorpusError(
            f"sequence {i}: X has {array.shape[1]} features, but FrameMap is expecting {dimensions} features as input, "
            "the values of a frame in training"
        )
    numbers: NDArray[np.float64] = array.astype(np.float64)
    wrong = ~np.isfinite(numbers).all(axis=1)
    if wrong.any():
        raise CorpusError(f"sequence {i}, frame {int(np.argmax(wrong))} has a value that is not finite: NaN or inf")
    return numbers


def _real(array: NDArray[Any], i: int) -> NDArray[np.float64]:
    """Objects that are numbers, as such."""
    try:
        numbers: NDArray[np.float64] = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise CorpusError(f"sequence {i}: expected numbers as values of frames, but {error}") from None
    return numbers
