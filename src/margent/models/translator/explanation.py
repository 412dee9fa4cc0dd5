"""Why a translator prefers a translation: the rules of its derivation, and what was seen of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from margent.models.translator.answers import DerivationNode, TranslationExplanation, TranslationStep
from margent.models.translator.options import CubePruning
from margent.models.translator.rule_table import DENSE_FEATURES, Rule
from margent.models.translator.sentences import EncodedSentences
from margent.models.translator.weights import Found

if TYPE_CHECKING:
    from margent.models.translator.model import TranslatorModel

_FIRST_GLUE, _GLUE, _PASS_THROUGH, _GOAL = -1, -2, -3, -4  # core/translation/rule_use.hpp


def derivation_of(encoded: EncodedSentences, sentence: int, found: Found) -> DerivationNode:
    """The tree of the steps of a translation; without the last one, the goal."""
    return _nodes(encoded, sentence, found)[-2]


def _nodes(encoded: EncodedSentences, sentence: int, found: Found) -> list[DerivationNode]:
    """One for each step."""
    tokens, table = encoded.tokens[sentence], encoded.table
    made: list[DerivationNode] = []
    waiting: list[DerivationNode] = []
    for rule, _, begin, end, _, _, n_parts in found.steps.tolist():
        parts = tuple(waiting[len(waiting) - n_parts :])
        del waiting[len(waiting) - n_parts :]
        if rule >= 0:
            known = table.rule(rule)
            text = f"X -> {_side(known.source)} , {_side(known.target)}"
            target = tuple(symbol if isinstance(symbol, str) else parts[symbol - 1] for symbol in known.target)
            places = _places(known, begin, parts)
        elif rule == _PASS_THROUGH:
            text, target, places = f"X -> {tokens[begin]} , {tokens[begin]}", (tokens[begin],), (begin,)
        else:
            text = "S -> [X,1] , [X,1]" if n_parts == 1 else "S -> [S,1] [X,2] , [S,1] [X,2]"
            target, places = parts, ()
        node = DerivationNode(text, begin, end, target, parts, places)
        made.append(node)
        waiting.append(node)
    return made


def _places(rule: Rule, begin: int, parts: Sequence[DerivationNode]) -> tuple[int, ...]:
    """The places of the words of a rule's source side."""
    found, at = [], begin
    for symbol in rule.source:
        if isinstance(symbol, str):
            found.append(at)
            at += 1
        else:
            at = parts[symbol - 1].end
    return tuple(found)


def _side(symbols: Sequence[str | int]) -> str:
    return " ".join(symbol if isinstance(symbol, str) else f"[X,{symbol}]" for symbol in symbols)


def explained(model: TranslatorModel, words: Sequence[str], search: CubePruning) -> TranslationExplanation:
    """Of one sentence."""
    encoded = model.encoded([list(words)], search)
    tokens = tuple(encoded.tokens[0])
    several = model.weights.translated(encoded, search, 2, 1)[0]
    if not several:
        return TranslationExplanation(tokens, (), 0.0, None, None, None, (), ())
    best, other = several[0], several[1] if len(several) > 1 else None
    nodes = _nodes(encoded, 0, best)
    seen: list[list[tuple[str, float]]] = [[] for _ in nodes]
    templates = model.weights.templates.lines
    for step, template, dense, weight, value in encoded.native.explain(
        model.weights.table, 0, best.steps, best.log_probabilities
    ):
        if weight:
            dense_name = f"{DENSE_FEATURES[dense]} = {value:.4g}"
            name = dense_name if template < 0 else _shown(templates[template], nodes[step], tokens)
            seen[step].append((name, weight * value))
    steps = []
    for number, (node, features) in enumerate(zip(nodes, seen)):
        if number == len(nodes) - 1:
            node = DerivationNode("the whole sentence", 0, len(tokens), (), (), ())
        score = sum(amount for _, amount in features)
        steps.append(TranslationStep(node, score, tuple(sorted(features, key=lambda each: -each[1]))))
    passed = [tokens[begin] for rule, _, begin, *_ in best.steps.tolist() if rule == _PASS_THROUGH]
    return TranslationExplanation(
        tokens,
        tuple(encoded.words(0, best.words)),
        best.score,
        nodes[-2],
        None if other is None else tuple(encoded.words(0, other.words)),
        None if other is None else best.score - other.score,
        tuple(steps),
        tuple(passed),
    )


def _shown(template: str, node: DerivationNode, tokens: Sequence[str]) -> str:
    """A template with the words that it saw, where these are words of the sentence or the translation."""
    edges = {
        "span.first": node.begin,
        "span.last": node.end - 1,
        "span.before": node.begin - 1,
        "span.after": node.end,
        "source.first": node.begin if node.begin in node.places else None,
        "source.last": node.end - 1 if node.end - 1 in node.places else None,
    }
    said = {"target.first": 0, "target.second": 1, "target.last": -1}
    terms = []
    for term in template.split():
        address = term.rpartition(".")[0]
        if address in edges:
            place = edges[address]
            word = "[X]" if place is None else tokens[place] if 0 <= place < len(tokens) else "(none)"
            terms.append(f"{term}={word}")
        elif term in said:
            found = node.target[said[term]] if len(node.target) > said[term] else "(none)"
            terms.append(f"{term}={found if isinstance(found, str) else '[X]'}")
        else:
            terms.append(term)
    return " ".join(terms)
