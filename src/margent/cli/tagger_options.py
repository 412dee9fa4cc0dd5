"""The parameters of the tagger as options, and the tagger that they describe."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.options import SCHEMES, whole

if TYPE_CHECKING:
    from margent.models import Tagger


def add_tagger_options(parser: argparse.ArgumentParser) -> None:
    """What is seen of a token, how labels depend on each other, and what mistakes cost."""
    from margent.features.templates import PRESETS
    from margent.structures.beam_oracle import UPDATES

    add = parser.add_argument
    features = parser.add_mutually_exclusive_group()
    features.add_argument(
        "--features",
        choices=(*PRESETS, "symbols"),
        help="what is seen of a token (default: generic; with --kernel: spelling; with --learner spectral: symbols)",
    )
    features.add_argument("--template", metavar="FILE", help="feature templates in CRF++'s syntax")
    _add_kernel_options(parser)
    add(
        "--order",
        type=whole(1),
        metavar="K",
        help="how many labels back transitions look (default: 1); with --learner spectral: symbols in a piece that is "
        "scored (default: 3)",
    )
    add("--beam-search", type=whole(1), metavar="N", help="keep only N states at each token (default: exact search)")
    add("--beam-update", choices=UPDATES, default=UPDATES[0], help="with --beam-search: what is learned from")
    _add_hidden_options(parser)
    add("--scheme", choices=SCHEMES, help="how labels spell spans (default: found out)")
    add("--constrain", action="store_true", help="predict only label sequences that the scheme allows")
    add("--min-count", type=whole(1), default=1, metavar="N", help="leave out features that occur less often")
    add(
        "--tag-dictionary",
        type=whole(1),
        metavar="N",
        help="a word seen N times or more gets only labels it was seen with",
    )
    add(
        "--label-cost",
        type=_label_cost,
        action="append",
        metavar="LABEL=COST",
        help="what a mistake costs where LABEL is right; others cost 1 (may be repeated)",
    )
    add(
        "--pair-cost",
        nargs=3,
        action="append",
        metavar=("RIGHT", "PREDICTED", "COST"),
        help="what it costs to predict PREDICTED where RIGHT is right; goes before --label-cost (may be repeated)",
    )
    add("--seed", type=whole(0), default=0, metavar="N", help="of the order of the sentences (default: 0)")


def _add_hidden_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("hidden labels: kinds of a label that the data do not tell apart").add_argument
    add("--hidden", type=whole(1), default=1, metavar="N", help="how many each label stands for (default: 1, itself)")
    add("--restarts", type=whole(1), default=1, metavar="N", help="with --hidden: trainings, the best is kept")
    add(
        "--decode",
        choices=("viterbi", "sum", "posterior"),
        default="viterbi",
        help="predict the labels of the best hidden labelling, those with the largest sum over hidden labellings, or "
        "at each token the most probable label (default: viterbi)",
    )


def hidden_labels(tagger: Tagger) -> dict[str, int] | None:
    """How many hidden labels each label of a fitted tagger has; None where labels are not split."""
    from margent.models.tagger.hidden.weights import HiddenWeights

    weights = tagger.weights_
    if not isinstance(weights, HiddenWeights):
        return None
    return {str(name): size for name, size in zip(tagger.classes_, weights.labels.sizes.tolist())}


_OF_A_KERNEL = ("degree", "gamma", "coef0", "window", "cache_mb")


def _add_kernel_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("kernel: labels by likeness to tokens of the training data").add_argument
    add("--kernel", choices=("linear", "polynomial", "rbf", "string-spectrum"), help="how likeness is measured")
    add("--degree", type=whole(1), metavar="N", help="of a polynomial, or length of substrings (default: 2)")
    add("--gamma", type=float, metavar="G", help="scale of the features (default: by their size in the training data)")
    add("--coef0", type=float, metavar="C", help="of a polynomial: what single features count (default: 1)")
    add("--window", type=whole(1), metavar="N", help="how many tokens are seen, an odd number (default: 3)")
    add("--cache-mb", type=float, metavar="MB", help="memory for kernel values in training (default: 1024)")


def kernel_words(arguments: argparse.Namespace) -> list[str]:
    """The kernel options as they were given, to be given again."""
    given = [(name, getattr(arguments, name)) for name in ("kernel", *_OF_A_KERNEL)]
    return [word for name, value in given if value is not None for word in (f"--{name.replace('_', '-')}", str(value))]


def _chosen_features(arguments: argparse.Namespace) -> Any:
    from margent.features import Kernel, Templates

    seen = arguments.features if arguments.template is None else Templates.from_file(arguments.template)
    given = {name: getattr(arguments, name) for name in _OF_A_KERNEL if getattr(arguments, name) is not None}
    if arguments.kernel is None:
        for name in given:
            raise UsageError(f"--{name.replace('_', '-')} is for a kernel: give --kernel too")
        return seen
    try:
        return Kernel(arguments.kernel, features=seen, **given)
    except ValueError as error:
        raise UsageError(f"--kernel: {error}") from None


def _label_cost(text: str) -> tuple[str, float]:
    label, _, cost = text.rpartition("=")
    try:
        value = float(cost)
    except ValueError:
        value = -1.0
    if not label or not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected LABEL=COST with a cost of at least 0, got {text!r}")
    return label, value


def _label_costs(arguments: argparse.Namespace) -> dict[Any, float] | None:
    costs: dict[Any, float] = dict(arguments.label_cost or [])
    for right, predicted, text in arguments.pair_cost or []:
        try:
            costs[right, predicted] = _label_cost(f"{right}={text}")[1]
        except argparse.ArgumentTypeError:
            raise UsageError(f"--pair-cost: expected a cost of at least 0, got {text!r}") from None
        if right == predicted:
            raise UsageError(f"--pair-cost: expected two different labels, got {right!r} twice")
    return costs or None


def chosen_tagger(arguments: argparse.Namespace, learner: Any) -> Tagger:
    """The tagger that the options describe, with this learner."""
    from margent.features import Features
    from margent.learners import learner_name
    from margent.models import Beam, HiddenLabels, Tagger

    if arguments.pair_cost and learner.probabilistic:
        raise UsageError(f"the learner {learner_name(learner)} knows --label-cost, but not --pair-cost")
    features, decode = _chosen_features(arguments), arguments.decode
    return Tagger(
        features=features if arguments.min_count == 1 else Features(features, arguments.min_count),
        learner=learner,
        order=1 if arguments.order is None or hasattr(learner, "order") else arguments.order,
        hidden=HiddenLabels(arguments.hidden, arguments.restarts)
        if arguments.hidden > 1 or arguments.restarts > 1
        else None,
        search=decode if arguments.beam_search is None else Beam(arguments.beam_search, arguments.beam_update, decode),
        scheme=arguments.scheme,
        constrain=arguments.constrain,
        label_costs=_label_costs(arguments),
        tag_dictionary=arguments.tag_dictionary,
        seed=arguments.seed,
    )
