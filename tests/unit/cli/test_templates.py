from __future__ import annotations

import pytest

from margent.features import PRESETS, preset_text


def test_list(margent):
    assert [line.split()[0] for line in margent("templates").output.splitlines()] == list(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_print(margent, name):
    assert margent("templates", name).output == preset_text(name)


def test_unknown(fails):
    fails(2, "'moon'", "templates", "moon")
