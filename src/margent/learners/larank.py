"""LaRank: the structural SVM in few passes."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.max_margin import MaxMargin
from margent.parameters import check_number, check_whole


@dataclass(frozen=True)
class LaRank(MaxMargin):
    """k-best LaRank (Bordes et al. 2007; paper 004, section 4.3, algorithm 3).

    Solves the problem of `SDM`, the structural SVM

        min  1/2 |w|^2 + C sum_n xi_n    s.t.  w . (F(gold_n) - F(y)) >= loss(y) - xi_n  for all n and y,  xi_n >= 0

    by its dual, and goes back while it goes on: after each new example, `n_reprocess` times, a random one of those seen
    is searched anew and optimised with its k best (ProcessOld), and ten random ones are optimised over the answers that
    are kept for them, without a search (Optimize). Without reprocessing, and with kappa = 0, it is `SDM`.

    When to use it: for one or two passes over the data, as when they come as a stream: one pass with reprocessing does
    about as well as many without. An epoch costs 1 + n_reprocess searches for the k best per example, and 10 *
    n_reprocess small problems.

    Only dual variables above a share of `kappa` of all that an example has, C times its weight, may become smaller.
    Memory, `objective`, `gap`, label costs, weights and `partial_fit` are as with `SDM`.

    Differs: examples to go back to are picked among all seen; Bordes et al. pick among those with a dual variable of a
    wrong answer above zero. The others may have got a wrong answer since.
    """

    n_reprocess: int = field(default=10, metadata={"help": "how often to revisit earlier examples after each new one"})
    tol: float = field(default=0.001, metadata={"help": "tolerance for solving the problem of one example"})
    kappa: float = field(default=1e-6, metadata={"help": "dual variables of at most this share of C are left alone"})
    working_set: int = field(default=50, metadata={"help": "wrong answers kept for each example"})
    reprocess_seed: int = field(default=0, metadata={"help": "seed for the choice of examples to revisit"})
    gap: float | None = field(default=None, metadata={"help": "stop at this relative duality gap"})
    epochs: int = field(default=1, kw_only=True, metadata={"help": "passes over the training data"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "tol", minimum=0)
        check_number(self, "kappa", minimum=0)
        check_whole(self, "n_reprocess", minimum=0)
        check_whole(self, "working_set", minimum=1)
        check_whole(self, "reprocess_seed", minimum=0, maximum=2**63 - 1)
        check_number(self, "gap", minimum=0, optional=True)

    def rule(self) -> _core.Rule:
        return _core.DualRule(
            float(self.C),
            int(self.k),
            float(self.tol),
            int(self.working_set),
            int(self.n_reprocess),
            float(self.kappa),
            int(self.reprocess_seed),
        )
