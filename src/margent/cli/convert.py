"""`margent convert`: a labelled file in another format or label scheme."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from margent.cli.command_line import UsageError
from margent.cli.options import FORMATS, SCHEMES, add_reading

_EXAMPLES = """\
Tokens and labels move freely between columns, conllu and jsonl. To crfsuite, tokens become attributes by templates
(--features or --template; default: generic); crfsuite and svmhmm files hold attributes only, and cannot become tokens.

examples:
  margent convert train.txt train.jsonl
  margent convert iob1.txt iob2.txt --scheme iob2
  margent convert annotated.jsonl train.txt --scheme iobes
  margent convert train.txt train.crfsuite --template templates.txt
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from margent.features.templates import PRESETS

    parser.description = "Convert a labelled file to another format or label scheme."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("source", metavar="IN", help="a labelled file, gzip or not; '-' is standard input")
    add("target", metavar="OUT", help="where to write; '-' is standard output; compressed if it ends in .gz")
    add("--from", dest="from_format", choices=FORMATS, help="the format of IN, the same as --format")
    add("--to", dest="to_format", choices=FORMATS, help="the format of OUT (default: by its name, else columns)")
    add("--scheme", choices=SCHEMES, help="write the spans in this label scheme")
    features = parser.add_mutually_exclusive_group()
    features.add_argument("--features", choices=PRESETS, help="templates for the attributes of crfsuite")
    features.add_argument("--template", metavar="FILE", help="a template file for the attributes of crfsuite")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    from margent import annotation, formats
    from margent.cli.data_files import ATTRIBUTE_FORMATS, DataReader, check_target, guessed_format, words_of

    reader = DataReader.of(arguments)
    if arguments.from_format is not None:
        reader = replace(reader, format=arguments.from_format)
    source = reader.format_of([arguments.source])
    target = arguments.to_format or guessed_format(arguments.target) or "columns"
    if source in ATTRIBUTE_FORMATS and target not in ATTRIBUTE_FORMATS:
        raise UsageError(f"{source} files hold attributes, from which {target} cannot be made")
    check_target(arguments.target)
    X, y = reader.labelled([arguments.source], arguments.scheme)
    if arguments.scheme is not None:
        y = [annotation.convert(labels, None, arguments.scheme) for labels in y]
    encoding = {"encoding": arguments.encoding}
    if target == "columns":
        formats.write_columns(arguments.target, X, y, **encoding)
    elif target == "jsonl":
        layout = "spans" if annotation.detect_scheme(y) is not None else "tokens"
        formats.write_jsonl(arguments.target, words_of(X), y, layout=layout, **encoding)
    elif target == "conllu":
        formats.write_conllu(arguments.target, _conllu(words_of(X), y), **encoding)
    else:
        attributes: Any = X if source in ATTRIBUTE_FORMATS else _attributes(X, arguments)
        write = formats.write_crfsuite if target == "crfsuite" else formats.write_svmhmm
        write(arguments.target, attributes, y, **encoding)
    return 0


def _conllu(sentences: list[list[str]], y: Any) -> Iterator[Any]:
    """Word and label as form and upos."""
    from margent.formats import ConlluSentence

    for words, labels in zip(sentences, y):
        pairs = enumerate(zip(words, labels), start=1)
        yield ConlluSentence([(str(i), word, "_", label, *["_"] * 6) for i, (word, label) in pairs])


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
