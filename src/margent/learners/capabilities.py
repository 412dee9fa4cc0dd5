"""Whether a learner and a structure fit: decided by what they declare, before any training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from margent.capability import METHODS, STRUCTURES, Capabilities, Capability
from margent.errors import CapabilityError
from margent.learners.base import Learner


def declared(oracle: Any) -> tuple[str, Capabilities]:
    """The name of an oracle's structure, and what it can do.

    An oracle of the library names its `structure`. One of the user's may have `capabilities` on its class, and a name
    as `structure`; without, its methods are its declaration: `answer` finds rivals, `log_loss` is a likelihood.
    """
    kind = type(oracle)
    name = str(getattr(oracle, "structure", kind.__name__))
    given = getattr(oracle, "capabilities", STRUCTURES.get(name))
    if given is None:
        given = {one for method, what in METHODS.items() if hasattr(oracle, method) for one in what}
    if not all(isinstance(one, Capability) for one in given):
        raise TypeError(f"capabilities of {kind.__name__} should be a set of Capability, got {given!r}")
    return name, frozenset(given)


def check_fits(learner: Any, structure: str, capabilities: Iterable[Capability] | None = None) -> None:
    """A CapabilityError in one sentence that names both, if the structure cannot do what the learner needs.

    `capabilities`: what the structure can do; None: it is one of the library's.
    """
    if not isinstance(learner, Learner):
        raise TypeError(f"a learner derives from RuleLearner or BatchLearner, as CRF() does, got {learner!r}")
    can = STRUCTURES[structure] if capabilities is None else frozenset(capabilities)
    missing = next((need for need in Capability if need in learner.needs - can), None)
    if missing is not None:
        fitting = [name for name, known in _known_learners().items() if known.needs <= can]
        instead = ", ".join(fitting[:-1]) + " or " + fitting[-1] if len(fitting) > 1 else "".join(fitting)
        method = next((name for name, what in METHODS.items() if missing in what), None)
        hint = f" (it has no `{method}`)" if method is not None and structure not in STRUCTURES else ""
        raise CapabilityError(
            f"{type(learner).__name__} {missing.need}, and the structure {structure!r} {missing.lack}{hint}: "
            + (f"choose {instead}" if instead else "no learner of the library fits it")
        )


def capability_table(structures: Mapping[str, Capabilities] = STRUCTURES) -> str:
    """Which learner fits which structure, as a table in Markdown: docs/choosing.md shows it."""
    alike: dict[Capabilities, list[str]] = {}
    for name, learner in _known_learners().items():
        alike.setdefault(learner.needs, []).append(f"`{name}`")
    rows = ["| structure | " + " | ".join(map(", ".join, alike.values())) + " |", "| --- |" + " :-: |" * len(alike)]
    for structure, can in structures.items():
        rows.append(f"| {structure} | " + " | ".join("x" if needs <= can else " " for needs in alike) + " |")
    return "\n".join(rows) + "\n"


def _known_learners() -> dict[str, Learner]:
    """The learners of the library as they come, and with the parameters that make them need something else."""
    from margent.learners.crf import CRF
    from margent.learners.em import EM
    from margent.learners.hidden_markov import HiddenMarkov
    from margent.learners.maximum_likelihood import MaximumLikelihood
    from margent.learners.pcfg import PCFG
    from margent.learners.registry import LEARNERS

    kinds: list[type[Any]] = [*LEARNERS.values(), EM, MaximumLikelihood, PCFG]
    known: dict[str, Learner] = {kind.__name__: kind() for kind in kinds}
    more = {"CRF(search='beam')": CRF(search="beam"), "HiddenMarkov(iterations=20)": HiddenMarkov(iterations=20)}
    return {**known, **more}
