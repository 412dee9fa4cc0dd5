"""Why a phrase-structure parser prefers a tree: the steps of its derivation, and the features of each."""

from __future__ import annotations

from margent.annotation.phrase_tree import PhraseTree
from margent.models.phrase_parser.answers import PhraseExplanation, PhraseReason
from margent.models.phrase_parser.charts import PhraseCharts
from margent.models.phrase_parser.data import PhraseData
from margent.models.phrase_parser.grammar import TreebankGrammar
from margent.models.phrase_parser.model import PhraseParserModel

_WORD, _BINARY, _UNARY, _ROOT, _PIECE = range(5)
_GRAMMAR_UNIT = 0.1  # in which native code sees scores of the grammar


def explained(model: PhraseParserModel, data: PhraseData) -> PhraseExplanation:
    """Of one sentence."""
    charts = model.charts(data, 1)
    if not len(charts):
        return PhraseExplanation(PhraseTree((), ()), 0.0, None, None, [])
    scores = model.scores(charts, 1)
    totals, ptr, edges, _ = charts.forests.k_best(scores, 2, 1)
    (trees,) = charts.k_best(scores, 2, 1)
    first = edges[: int(ptr[1])].tolist()
    reasons = [_reason(model, charts, edge, float(scores[edge])) for edge in reversed(first)]
    other = trees[1] if len(trees) > 1 else None
    return PhraseExplanation(
        trees[0][1],
        trees[0][0],
        None if other is None else other[1],
        None if other is None else float(totals[0] - totals[1]),
        reasons,
    )


def _reason(model: PhraseParserModel, charts: PhraseCharts, edge: int, score: float) -> PhraseReason:
    kind, begin, end, split, rule = charts.edges[edge].tolist()
    grammar = model.grammar
    start = split if kind == _PIECE else begin
    if model.weights is None:
        return PhraseReason(start, end, _text(grammar, kind, rule), score, [])
    _, symbols, unary = model.weights.columns
    parts, tokens, found = model.weights.parts(), charts.tokens[0], list[tuple[str, float]]()
    own = {_BINARY: "binary", _UNARY: "unary", _ROOT: "root"}
    column = -1
    if kind == _WORD:
        column = int(symbols[rule])
    elif kind == _BINARY:
        column = int(symbols[grammar.binary[rule, 0]])
    elif kind == _UNARY:
        column = int(unary[rule])
    places = [(begin, end, -1)] + ([(begin, end, split)] if kind == _BINARY else [])
    for place in places if column >= 0 else []:
        found += [(text, float(row[column])) for text, row in model.weights.seen(tokens, place)]
    if kind in own:
        found.append(("rule", float(parts[own[kind]][rule])))
    elif kind == _PIECE:
        found.append(("piece", float(parts["piece"][0])))
    given = float(charts.forests.scores[edge])
    if given > float("-inf"):
        found.append(("grammar", float(parts["grammar"][0]) * _GRAMMAR_UNIT * given))
    kept = sorted((feature for feature in found if feature[1]), key=lambda feature: -feature[1])
    return PhraseReason(start, end, _text(grammar, kind, rule), score, kept)


def _text(grammar: TreebankGrammar, kind: int, rule: int) -> str:
    if kind == _BINARY:
        return grammar.rule_text(rule)
    if kind == _UNARY:
        parent, child = (grammar.symbols[s] for s in grammar.unary[rule].tolist())
        chain = [*grammar.labels_of_chain(rule), child]
        return " -> ".join(map(str, chain)) if len(chain) > 1 else f"{parent} as it is"
    symbol = str(grammar.symbols[rule])
    return {_WORD: f"tag {symbol}", _ROOT: f"sentence -> {symbol}", _PIECE: f"piece {symbol}"}[kind]
