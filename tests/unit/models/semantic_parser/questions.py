"""Questions of a small domain, encoded with the pieces that their meanings are made of."""

from __future__ import annotations

from margent.features.token_atoms import TokenAtoms
from margent.meaning import Domain, TypeHierarchy, parse_meaning, parse_type
from margent.models.semantic_parser.fragments import parts_of
from margent.models.semantic_parser.grammar import MeaningGrammar
from margent.models.semantic_parser.lexicon import Lexicon, LexiconOptions
from margent.models.semantic_parser.templates import parsed_templates
from margent.models.semantic_parser.weights import EncodedQuestions

DOMAIN = Domain(
    TypeHierarchy({"lo": "e", "s": "lo", "r": "lo"}),
    {
        "state": [parse_type("s -> t")],
        "river": [parse_type("r -> t")],
        "loc": [parse_type("lo -> lo -> t")],
        "next": [parse_type("s -> s -> t")],
        "size": [parse_type("lo -> i")],
        "capital": [parse_type("s -> lo")],
        "texas": [parse_type("s")],
        "ohio": [parse_type("s")],
    },
    {("texas",): ["texas"], ("ohio",): ["ohio"]},
)
PAIRS = [
    ("which states border texas", "(lambda $0 e (and (state $0) (next $0 texas)))"),
    ("which rivers are in ohio", "(lambda $0 e (and (river $0) (loc $0 ohio)))"),
    ("how many states are there", "(count $0 (state $0))"),
    ("how many rivers are in texas", "(count $0 (and (river $0) (loc $0 texas)))"),
    ("largest state", "(argmax $0 (state $0) (size $0))"),
    ("largest river in ohio", "(argmax $0 (and (river $0) (loc $0 ohio)) (size $0))"),
    ("size of texas", "(size texas)"),
    ("capital of ohio", "(capital ohio)"),
    ("capital of the largest state", "(capital (argmax $0 (state $0) (size $0)))"),
    ("states that border ohio or texas", "(lambda $0 e (and (state $0) (or (next $0 ohio) (next $0 texas))))"),
    ("rivers in states that border texas",
     "(lambda $0 e (and (river $0) (exists $1 (and (state $1) (next $1 texas) (loc $0 $1)))))"),
]  # fmt: skip
QUESTIONS = [question.split() for question, _ in PAIRS]
MEANINGS = [parse_meaning(meaning) for _, meaning in PAIRS]


def grammar(most_names=3, **options):
    parts = [parts_of(meaning, most_names) for meaning in MEANINGS]
    given = {"min_count": 1, "per_piece": 2, **options}
    return MeaningGrammar.of(Lexicon.learned(QUESTIONS, parts, DOMAIN, LexiconOptions(**given)))


def encoded(of, templates=None, questions=QUESTIONS):
    """Encoded questions, and the atoms of their words."""
    atoms = TokenAtoms(parsed_templates(templates).token_atoms)
    return EncodedQuestions.of(questions, of, atoms, grow=True), atoms
