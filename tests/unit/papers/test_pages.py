"""What the pages say is what the results files say."""

from __future__ import annotations

import pytest
from papers.pages import HERE, pages


@pytest.mark.parametrize(("path", "text"), list(pages()), ids=lambda value: getattr(value, "name", ""))
def test_pages_are_made_of_their_results(path, text):
    assert path.read_text("utf-8") == text, f"{path.relative_to(HERE)}: python -m papers.pages writes it anew"
