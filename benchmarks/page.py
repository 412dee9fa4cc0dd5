"""Pages with parts that programs write."""

from __future__ import annotations

import re

from margent.errors import CorpusError


def with_generated(page: str, parts: dict[str, str]) -> str:
    """The page with what stands between `<!-- generated: NAME -->` and `<!-- end -->` replaced by `parts[NAME]`."""
    for name, text in parts.items():
        begin, end = f"<!-- generated: {name} -->", "<!-- end -->"
        pattern = re.compile(rf"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)
        page, count = pattern.subn(lambda match, text=text: f"{match[1]}\n{text.strip()}\n\n{match[2]}", page)
        if count != 1:
            raise CorpusError(f"expected one part '{begin}' to '{end}' in the page, found {count}")
    return page
