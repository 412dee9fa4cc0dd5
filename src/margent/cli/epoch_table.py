"""What `train` prints while a model learns."""

from __future__ import annotations

import sys
from typing import Any

from margent.cli.files import number_of
from margent.cli.output import complain, out_error
from margent.printable import printable


class Printer:
    """Prints lines as they come. Standard output that cannot be written, as its reader has gone away or the disk is
    full, does not stop the training: it is remembered as the `problem`."""

    def __init__(self, quiet: bool) -> None:
        self.problem: OSError | None = None
        self._quiet = quiet
        # The progress bar catches sys.stdout to print above itself: right on a terminal, wrong for a file.
        self._stream = None if sys.stdout.isatty() else sys.stdout

    def __call__(self, text: str) -> None:
        if not self._quiet:
            self.always(printable(text))

    def always(self, text: str) -> None:
        if self.problem is not None:
            return
        try:
            print(text, file=self._stream, flush=True)
        except OSError as error:
            self.problem = out_error(error)

    def status(self, status: int) -> int:
        """That of the command: it fails where output could not be written, but for a reader that has seen enough."""
        if self.problem is None or isinstance(self.problem, BrokenPipeError):
            return status
        complain(f"margent: error: {self.problem.filename}: {self.problem.strerror}; all else is done")
        return status or 1


class EpochTable:
    """One line for each epoch, written when it ends, with the columns that its learner has something to say in."""

    def __init__(self, say: Printer, *, with_dev: bool) -> None:
        self._say = say
        self._best = -1.0
        self._with_dev = with_dev
        self._heading = ""
        self.gap: float | None = None

    def add(self, epoch: Any) -> None:
        self.gap = epoch.gap
        # A learner that does not search while it learns has an objective to watch instead.
        searched = epoch.accuracy is not None
        columns = [("epoch", 5, f"{epoch.epoch}")]
        if searched:
            columns.append(("accuracy", 8, f"{100 * epoch.accuracy:.2f}%"))
        if epoch.objective is not None and (epoch.gap is not None or not searched):
            columns.append(("objective", 12, f"{epoch.objective:.2f}"))
        if epoch.gap is not None:
            columns += [("primal", 12, f"{epoch.primal:.2f}"), ("gap", 8, f"{epoch.gap:.2g}")]
        if epoch.rank is not None:
            columns.append(("rank", 5, f"{epoch.rank}"))
        columns.append(("updates", 10 if searched else 8, f"{epoch.updates:,}"))
        columns.append(("seconds", 7, f"{epoch.seconds:.2f}"))
        heading = "  ".join(f"{name:>{width}}" for name, width, _ in columns) + ("     dev" if self._with_dev else "")
        if heading != self._heading:  # of the first epoch, or of another learner that goes on
            self._say(f"\n{heading}")
            self._heading = heading
            self._best = -1.0
        line = "  ".join(f"{text:>{width}}" for _, width, text in columns)
        if epoch.dev_score is not None:
            line += f"  {100 * epoch.dev_score:6.2f}{' *' if epoch.dev_score > self._best else ''}"
            self._best = max(self._best, epoch.dev_score)
        self._say(line)


def interruption(model: Any) -> str:
    """How an interrupted training ended."""
    done = len(model.history_)
    best = model.best_epoch_
    if best is not None:
        return f"interrupted after {number_of(done, 'epoch')}: the model of epoch {best}, the best so far, is kept"
    return f"interrupted in epoch {done + 1}: the model as it was then is kept"
