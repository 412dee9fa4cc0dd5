"""`margent convert`: a file in another format or label scheme."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from margent.cli.command_line import Parser, UsageError
from margent.cli.options import SCHEMES, add_columns, add_format, limits_of

_EXAMPLES = """\
Any format can be converted into any other with the same contents: labelled tokens between columns, conllu and jsonl,
dependency trees between conllu and conllx, label files between those of Praat, HTK, TIMIT, xwaves and Audacity;
phrase-structure trees stay in brackets, with or without traces. For crfsuite, templates turn tokens into attributes
(--features or --template; default: generic); crfsuite and svmhmm files hold only attributes, and cannot become tokens.

examples:
  margent convert train.txt train.jsonl
  margent convert iob1.txt iob2.txt --scheme iob2
  margent convert annotated.jsonl train.txt --scheme iobes
  margent convert train.txt train.crfsuite --template templates.txt
  margent convert trees.conllu trees.conllx
  margent convert wsj_0001.mrg plain.mrg
  margent convert speech.TextGrid speech.lab --tier phones
"""

_BY_TEMPLATES = ("tokens", "crfsuite")


def configure(parser: Parser) -> None:
    from margent.features.templates import PRESETS
    from margent.formats.registry import format_names

    parser.description = "Convert a file to another format or label scheme."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("source", metavar="IN", help="a labelled file, gzip or not; '-' is standard input")
    add("target", metavar="OUT", help="where to write; '-' is standard output; compressed if it ends in .gz")
    add_format(parser, "tokens", "attributes", "pronunciations", "intervals", "dependencies", "phrases", what="IN")
    add("--to", choices=format_names(read=False, write=True), metavar="NAME",
        help="the format of OUT (default: by its name, else that of IN)")  # fmt: skip
    add("--scheme", choices=SCHEMES, help="write the spans in this label scheme")
    features = parser.add_mutually_exclusive_group()
    features.add_argument("--features", choices=PRESETS, help="templates for the attributes of crfsuite")
    features.add_argument("--template", metavar="FILE", help="a template file for the attributes of crfsuite")
    add_columns(parser)
    add("--tier", metavar="NAME", help="which tier of a TextGrid (default: the only one)")
    add("--rate", type=int, default=16000, metavar="HZ", help="samples per second, for TIMIT (default: 16000)")
    add("--functions", action="store_true", help="keep function tags in phrase-structure trees: NP-SBJ-1 instead of NP")
    add("--traces", action="store_true", help="keep empty elements in phrase-structure trees")
    add("--no-unaries", action="store_true", help="of several phrases over the same words, keep only the topmost")
    add("--no-stress", action="store_true", help="strip the digits from phonemes: AH0 and AH1 become AH")


def run(arguments: argparse.Namespace) -> int:
    from margent import annotation
    from margent.cli.files import check_target, named_files
    from margent.cli.tasks.tagger import called
    from margent.formats.registry import FormatOptions, Gives, formats_named, guessed_format

    plain = arguments.source.removesuffix(".gz").endswith((".txt", ".conll"))  # Audacity, CoNLL-X: most are columns
    sources = formats_named(arguments.format or (None if plain else guessed_format(arguments.source)) or "columns")
    kinds: set[Gives] = {format.gives for format in sources}
    if kinds & {"tokens", "attributes"}:
        kinds |= {"tokens", "attributes"}
    usual = "columns" if "tokens" in kinds else sources[0].name
    targets = formats_named(arguments.to or guessed_format(arguments.target, *kinds) or usual)
    pairs = ((s, t) for s in sources for t in targets if s.gives == t.gives or (s.gives, t.name) == _BY_TEMPLATES)
    source, target = next(((s, t) for s, t in pairs if s.read and t.write), (sources[0], targets[0]))
    if source.gives != target.gives and (source.gives, target.name) != _BY_TEMPLATES:
        raise UsageError(f"{source.name} files hold {source.gives}, from which {target.name} cannot be made")
    if source.read is None or target.write is None:
        raise UsageError(f"{source.name if source.read is None else target.name} files are not converted one by one")
    if source.gives in ("dependencies", "phrases") and arguments.scheme is not None:
        raise UsageError("--scheme is for labels of spans; trees have none")
    check_target(arguments.target, named_files(arguments, "target"))
    options = FormatOptions(
        arguments.encoding, arguments.columns, arguments.tabs, arguments.comment, arguments.scheme,
        not arguments.no_stress, arguments.rate, arguments.tier, functions=arguments.functions,
        traces=arguments.traces, unaries=not arguments.no_unaries, limits=limits_of(arguments),
    )  # fmt: skip
    read: Any = called(source.read, arguments.source, options)
    if source.gives == "intervals":
        target.write(arguments.target, read, options)
        return 0
    X, y = read
    if arguments.scheme is not None:
        y = [annotation.convert(labels, None, arguments.scheme) for labels in y]
    if source.gives == "tokens" and target.gives == "attributes":
        X = _attributes(X, arguments)
    target.write(arguments.target, X, y, options)
    return 0


def _attributes(X: Any, arguments: argparse.Namespace) -> Iterator[list[list[str]]]:
    """The features that templates make of each token, by name."""
    from itertools import pairwise

    from margent.features.template_map import TemplateMap
    from margent.features.templates import Templates

    chosen = arguments.template
    templates = Templates.preset(arguments.features or "generic") if chosen is None else Templates.from_file(chosen)
    feature_map = TemplateMap(templates)
    encoded = feature_map.encode(X, grow=True)
    names = [feature_map.name(i) for i in range(feature_map.n_unigrams)]
    tokens = [[names[i] for i in encoded.ids[a:b]] for a, b in pairwise(encoded.ptr.tolist())]
    for start, end in pairwise(encoded.sequence_ptr.tolist()):
        yield tokens[start:end]
