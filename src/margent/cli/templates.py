"""`margent templates`: print the feature templates that ship with Margent."""

from __future__ import annotations

import argparse

from margent.cli.output import say

_EXAMPLES = """\
examples:
  margent templates
  margent templates ner
  margent templates generic > mine.txt && margent train train.txt -m mine.margent --template mine.txt
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from margent.features.templates import PRESETS

    parser.description = "Print a template file that ships with Margent, to read or to start one's own from."
    parser.epilog = _EXAMPLES
    parser.add_argument("preset", metavar="PRESET", nargs="?", choices=PRESETS, help=f"one of {', '.join(PRESETS)}")


def run(arguments: argparse.Namespace) -> int:
    from margent.features.templates import PRESETS, preset_text

    if arguments.preset is not None:
        say(preset_text(arguments.preset), end="")
        return 0
    for name in PRESETS:
        remark = " ".join(line.lstrip("# ") for line in preset_text(name).splitlines() if line.startswith("#"))
        say(f"{name:10} {remark.partition('. ')[0].rstrip('.')}")
    return 0
