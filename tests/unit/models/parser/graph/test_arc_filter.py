"""The filter of arcs: what it learns, what it sees, how it is stored."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from margent import _core, storage
from margent.features.part_templates import PartTemplates
from margent.models.parser.graph.arc_filter import ArcFilter, filter_templates
from margent.models.parser.graph.templates import VOCABULARY, preset

ATOMS = ("upos",)


def sentences(n: int, seed: int) -> tuple[_core.TreeExamples, list[set[tuple[int, int, int]]]]:
    """Words of tags 1 to 4: the first 1 is the root, all others hang on the next word to the left; label: the tag."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 12, n)
    ptr = np.append(0, np.cumsum(lengths)).astype(np.int64)
    tags, heads = rng.integers(2, 5, ptr[-1]).astype(np.int32), np.concatenate([np.arange(k) for k in lengths])
    tags[ptr[:-1]] = 1
    labels = tags - 1
    arcs = [{(int(h), w, int(x)) for w, (h, x) in enumerate(zip(heads[a:z], labels[a:z]), 1)} for a, z in pairwise(ptr)]
    return _core.TreeExamples(ptr, tags[:, None], heads.astype(np.int32), labels, None, 4), arcs


def learned() -> ArcFilter:
    given, _ = sentences(200, 0)
    return ArcFilter.learned(preset("arcs"), ATOMS, given, 1500, 4, 0)


def test_it_keeps_right_arcs_and_leaves_out_most_others() -> None:
    given, right = sentences(50, 1)
    kept = [set(map(tuple, arcs.tolist())) for arcs in learned().native(ATOMS).kept(given)]
    assert all(arcs <= found for arcs, found in zip(right, kept))
    possible = sum(4 * len(arcs) ** 2 for arcs in right)
    assert sum(map(len, kept)) < 0.15 * possible


def test_what_it_sees_are_templates_whose_atoms_are_there() -> None:
    chosen = filter_templates(preset("arcs"), ATOMS)
    assert set(chosen.token_atoms) == {"upos"} and len(chosen) > 5
    lines = ["h.shape m.shape direction", "m.shape label", "h.shape between.shape", "h.shape s.shape"]
    own = PartTemplates.parse(lines, VOCABULARY)
    assert filter_templates(own, ("shape",)).lines == lines[:2]


def test_it_is_stored_and_continued(tmp_path: Path) -> None:
    kept = learned()
    header, arrays = kept.stored(half=False)
    storage.write(tmp_path / "m", header, arrays, kind="parser")
    back = ArcFilter.restored(storage.read(tmp_path / "m"), 4, ATOMS, False)
    assert back.parts == kept.parts and np.array_equal(back.weights, kept.weights)
    given, _ = sentences(20, 2)
    further = ArcFilter.learned(preset("arcs"), ATOMS, given, 100, 4, 0, back)
    assert further.bits == kept.bits and not np.array_equal(further.weights, kept.weights)
    again = ArcFilter.learned(preset("arcs"), ATOMS, given, 100, 4, 0, back)
    assert np.array_equal(further.weights, again.weights)
