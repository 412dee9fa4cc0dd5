"""Pictures of a search, as Optuna draws them, and how much each parameter matters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from margent.errors import CorpusError
from margent.metrics.drawing import check_format, finished, new_figure
from margent.tuning.study import import_optuna, quiet

if TYPE_CHECKING:
    import optuna
    from matplotlib.figure import Figure

KINDS = {
    "history": "plot_optimization_history",
    "importances": "plot_param_importances",
    "slices": "plot_slice",
    "rungs": "plot_intermediate_values",
}


def plot_study(study: optuna.Study, kind: str, path: str | os.PathLike[str] | None) -> Figure:
    """The picture of this kind, without a trace in pyplot: no open figure, no changed style."""
    if kind not in KINDS:
        raise ValueError(f"kind should be one of {', '.join(KINDS)}, got {kind!r}")
    if path is None:
        new_figure(1, 1)  # says so where matplotlib is missing
    else:
        check_format(path)
    if not any(trial.value is not None for trial in study.get_trials(deepcopy=False)):
        raise CorpusError("no trial of the search has a score, so there is nothing to draw")
    options: dict[str, Any] = {}
    if kind == "importances":
        if not parameter_importances(study):
            raise CorpusError("there are too few different scores to say which parameters matter")
        options["evaluator"] = import_optuna().importance.FanovaImportanceEvaluator(seed=0)
    if kind == "slices":
        options["params"] = _varied(study)
        if not options["params"]:
            raise CorpusError("all trials of the search that have a score have the same parameters")
    import matplotlib
    from matplotlib import pyplot

    with quiet(), matplotlib.rc_context(), pyplot.ioff():
        import optuna.visualization.matplotlib as drawing

        axes: Any = getattr(drawing, KINDS[kind])(study, **options)
        figure: Figure = np.ravel(axes)[0].figure
        pyplot.close(figure)
        return finished(figure, path)


def parameter_importances(study: optuna.Study) -> dict[str, float]:
    """The importance of each parameter that all complete trials have; empty where their scores do not tell."""
    optuna = import_optuna()
    scores = [trial.value for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
    if len(scores) < 2 or len(set(scores)) == 1:
        return {}
    with quiet():
        evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
        return {
            name: float(value)
            for name, value in optuna.importance.get_param_importances(study, evaluator=evaluator).items()
        }


def _varied(study: optuna.Study) -> list[str]:
    """The parameters of which complete trials have different values."""
    found: dict[str, set[Any]] = {}
    for trial in study.get_trials(deepcopy=False):
        if trial.state.name == "COMPLETE":
            for name, value in trial.params.items():
                found.setdefault(name, set()).add(value)
    return [name for name, values in found.items() if len(values) > 1]
