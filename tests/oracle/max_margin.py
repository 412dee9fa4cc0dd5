"""The k-best max-margin learners of the textbook, on label chains, by enumeration, with weights as dicts.

Each learner is a function from (state, example number) that changes `state.weights`; `train` runs one over a sequence
of examples. Nothing is clever: margins are computed anew from features whenever they are needed.
"""

from __future__ import annotations

from collections import defaultdict

from oracle import perceptron as plain


def inner(a, b):
    return sum(value * b.get(key, 0.0) for key, value in a.items())


class State:
    """Weights, and what learners keep between examples."""

    def __init__(self, examples, start, n_labels, order, costs, transitions=True):
        self.examples, self.n_labels, self.order, self.costs = examples, n_labels, order, costs
        self.transitions = transitions
        self.weights = defaultdict(float, start)
        self.kept = {}  # example number -> {"gold": dual variable, "members": [[delta, loss, dual variable]]}
        self.variances = defaultdict(lambda: 1.0)
        self.objective = 0.0
        self.steps = []  # (example number, delta, loss, step)
        self.closest = float("inf")  # how near the first answer left out of a search came to the last one taken

    def features(self, number, labels):
        return plain.features(self.examples[number], labels, self.order, self.transitions)

    def gold(self, number):
        return plain.gold_side(self.examples[number], self.weights, self.n_labels, self.order, self.transitions)

    def best(self, number, k, cost):
        """The k labellings with the largest score + cost * loss: (delta, loss, errors) each."""
        example, gold = self.examples[number], self.features(number, self.gold(number))
        ranked = plain.rivals(example, self.weights, self.n_labels, self.order, self.costs, cost, self.transitions)
        if len(ranked) > k:
            last, next_ = (
                plain.value(example, labels, self.weights, self.order, self.costs, cost, self.transitions)
                for labels in ranked[k - 1 : k + 1]
            )
            self.closest = min(self.closest, last - next_)
        found = []
        for labels in ranked[:k]:
            other = self.features(number, labels)
            delta = {key: gold.get(key, 0.0) - other.get(key, 0.0) for key in {**gold, **other}}
            loss, errors = plain.loss(example, labels, self.costs), plain.errors(example, labels)
            found.append(({key: value for key, value in delta.items() if value != 0}, loss, errors))
        return found

    def move(self, number, delta, loss, step):
        for key, value in delta.items():
            self.weights[key] += step * value
        self.steps.append((number, delta, loss, step))


def train(state, sequence, learn, weighted=False):
    """The average of the weights before the first and after each example; `weighted`: those after step t count t."""
    total, count = defaultdict(float, state.weights), 1.0
    for step, number in enumerate(sequence, 1):
        if any(label is not None for label in state.examples[number].labels) or weighted:
            learn(state, number)
        for key, value in state.weights.items():
            total[key] += (step if weighted else 1) * value
        count += step if weighted else 1
    return {key: value / count for key, value in total.items()}


def arow(r):
    """Crammer, Kulesza and Dredze (2009) with the hinge loss of the best wrong labelling; variances as a dict."""

    def learn(state, number):
        weight, variances = state.examples[number].weight, state.variances
        ((delta, loss, errors),) = state.best(number, 1, 1.0)
        hinge = loss - plain.dot(state.weights, delta)
        if errors == 0 or hinge <= 0:
            return
        trust = r / weight
        spread = sum(value * value * variances[key] for key, value in delta.items())
        step = hinge / (spread + trust)
        for key, value in delta.items():
            state.weights[key] += step * variances[key] * value
            variances[key] = 1 / (1 / variances[key] + value * value / trust)
        state.steps.append((number, delta, loss, step))

    return learn


def online(k, C=None, *, cost=1.0, restricted=False, fixed_step=False):
    """Algorithm 4. `cost=0` and `fixed_step`: the k-best perceptron; otherwise PA and, restricted, RPA."""

    def learn(state, number):
        weight = state.examples[number].weight
        for delta, loss, errors in state.best(number, k, cost):
            hinge = cost * loss - plain.dot(state.weights, delta)
            if errors == 0 or hinge < 0 or (hinge == 0 and not fixed_step):
                continue
            if restricted:
                [(prediction, prediction_loss, _)] = state.best(number, 1, 0.0)
                if hinge < prediction_loss - plain.dot(state.weights, prediction) - 1e-9:
                    continue
            norm = inner(delta, delta)
            if fixed_step:
                state.move(number, delta, loss, weight * loss / errors)
            elif norm:
                state.move(number, delta, loss, min(hinge / norm, C * weight))

    return learn


def solve_pairs(state, number, gold, members, tol, kappa=0.0):
    """Equations (17) to (20) on gold and members, the gradient computed anew at each step. Returns gold's variable."""
    rows = [[{}, 0.0, gold], *members]
    before = [row[2] for row in rows]

    def gradient(i):
        moved = sum((row[2] - b) * inner(row[0], rows[i][0]) for row, b in zip(rows, before))
        return moved - (rows[i][1] - plain.dot(state.weights, rows[i][0]))

    for _ in range(1000 * len(rows)):
        g = [gradient(i) for i in range(len(rows))]
        movable = [i for i in range(len(rows)) if rows[i][2] > kappa]
        if not movable or max(g[i] for i in movable) <= min(g) + max(tol, 1e-11):
            break
        # Of those that tie, the first.
        up = next(i for i in range(len(rows)) if g[i] <= min(g) + 1e-9)
        down = next(i for i in movable if g[i] >= max(g[j] for j in movable) - 1e-9)
        if g[down] <= g[up]:
            break
        a, b = rows[up][0], rows[down][0]
        norm = inner(a, a) + inner(b, b) - 2 * inner(a, b)
        delta = min(rows[down][2], (g[down] - g[up]) / norm if norm > 1e-12 else float("inf"))
        rows[up][2] += delta
        rows[down][2] = 0.0 if delta == rows[down][2] else rows[down][2] - delta
    changes = [row[2] - b for row, b in zip(rows, before)]
    hinges = [row[1] - plain.dot(state.weights, row[0]) for row in rows]
    total = defaultdict(float)
    for change, row in zip(changes, rows):
        for key, value in row[0].items():
            total[key] += change * value
    state.objective += sum(c * h for c, h in zip(changes, hinges)) - inner(total, total) / 2
    for change, row in zip(changes, rows):
        if change:
            state.move(number, row[0], row[1], change)
    return rows[0][2]


def new_members(state, number, k, members):
    known = [(row[0], row[1]) for row in members]
    found = [(delta, loss) for delta, loss, errors in state.best(number, k, 1.0) if errors]
    same = [any(abs(loss - cost) < 1e-9 and close(delta, d) for d, cost in known) for delta, loss in found]
    return [[delta, loss, 0.0] for (delta, loss), old in zip(found, same) if not old]


def close(a, b):
    return all(abs(a.get(key, 0.0) - b.get(key, 0.0)) < 1e-6 for key in {**a, **b})


def mira(k, C, tol):
    """Equations (13) to (16): all k constraints, forgotten after the example."""

    def learn(state, number):
        members = new_members(state, number, k, [])
        solve_pairs(state, number, C * state.examples[number].weight, members, tol)

    return learn


def larank(k, C, tol, *, n_reprocess=0, kappa=0.0, seed=0, limit=10**9):
    """Algorithm 3 and, without reprocessing, algorithm 2. Variables and working sets are kept in the state."""
    bits = random_bits(seed)

    def optimize(state, number):
        kept = state.kept[number]
        share = kappa * C * state.examples[number].weight
        kept["gold"] = solve_pairs(state, number, kept["gold"], kept["members"], tol, share)
        members = [row for row in kept["members"] if row[2] > 0]
        while len(members) > limit:  # the two of least weight become their mean
            (d1, l1, v1), (d2, l2, v2), *others = sorted(members, key=lambda row: row[2])
            mean = {key: (v1 * d1.get(key, 0.0) + v2 * d2.get(key, 0.0)) / (v1 + v2) for key in {**d1, **d2}}
            members = [[mean, (v1 * l1 + v2 * l2) / (v1 + v2), v1 + v2], *others]
        kept["members"] = members

    def search(state, number):
        kept = state.kept.setdefault(number, {"gold": C * state.examples[number].weight, "members": []})
        kept["members"] = kept["members"] + new_members(state, number, k, kept["members"])
        optimize(state, number)

    def learn(state, number):
        search(state, number)
        for _ in range(n_reprocess):
            seen = list(state.kept)
            search(state, seen[uniform(bits, len(seen))])
            for _ in range(10):
                optimize(state, seen[uniform(bits, len(seen))])

    return learn


def frank_wolfe(C):
    """Lacoste-Julien et al. (2013), algorithm 4, in the scale of C: parts w_n and losses l_n in `state.kept`."""

    def learn(state, number):
        part, part_loss = state.kept.setdefault(number, ({}, 0.0))
        if all(label is None for label in state.examples[number].labels):
            return
        [(delta, loss, errors)] = state.best(number, 1, 1.0)
        C_n = C * state.examples[number].weight if errors else 0.0
        corner, corner_loss = {key: C_n * value for key, value in delta.items()}, C_n * loss
        way = {key: corner.get(key, 0.0) - part.get(key, 0.0) for key in {**corner, **part}}
        slope, norm = corner_loss - part_loss - plain.dot(state.weights, way), inner(way, way)
        if slope <= 0:
            return
        step = min(1.0, slope / norm) if norm else 1.0
        state.kept[number] = (
            {key: part.get(key, 0.0) + step * value for key, value in way.items()},
            part_loss + step * (corner_loss - part_loss),
        )
        state.objective += step * slope - step**2 * norm / 2
        state.move(number, way, corner_loss - part_loss, step)

    return learn


def subgradient(C, *, project=False, warm_start=1):
    """Pegasos on 1 / (2 C n) |w|^2 + mean hinge loss; weights to start from stand for epochs that were made."""
    made = {"steps": 0, "before": 0, "ball": 0.0}

    def learn(state, number):
        n, example = len(state.examples), state.examples[number]
        if made["steps"] == 0:
            made["before"] = warm_start * n if any(state.weights.values()) else 0
            for other in state.examples:
                losses = [plain.loss(other, y, state.costs) for y in plain.labellings(other, state.n_labels)]
                made["ball"] += C * other.weight * max(losses)
        made["steps"] += 1
        t, known = made["steps"] + made["before"], any(label is not None for label in example.labels)
        found = state.best(number, 1, 1.0) if known else []
        for key in state.weights:
            state.weights[key] *= 1 - 1 / t if t > 1 else 1
        for delta, loss, errors in found:
            if errors:
                state.move(number, delta, loss, C * n * example.weight / t)
        norm = inner(state.weights, state.weights)
        if project and norm > made["ball"]:
            for key in state.weights:
                state.weights[key] *= (made["ball"] / norm) ** 0.5

    return learn


def random_bits(seed):
    """xoshiro256** with a state from splitmix64, as published."""
    mask = 2**64 - 1
    s = []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        s.append(z ^ (z >> 31))

    def rotated(x, n):
        return ((x << n) | (x >> (64 - n))) & mask

    while True:
        yield rotated(s[1] * 5 & mask, 7) * 9 & mask
        shifted = s[1] << 17 & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotated(s[3], 45)


def uniform(bits, n):
    return next(b for b in bits if b >= 2**64 % n) % n
