"""The words of the pages can be read: their contrast is at least 4.5:1 (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest


def luminance(color: str) -> float:
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_words_of_the_studio_stand_out(theme):
    style = (files("crumple.studio") / "page" / "style.css").read_text()
    block = re.findall(r":root[^{]*\{([^}]*)\}", style)[theme]
    colors = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    for words in ("text", "quiet"):
        for ground in ("ground", "panel", "stage"):
            assert contrast(colors[words], colors[ground]) >= 4.5, (words, ground)
    assert contrast(colors["bad"], colors["panel"]) >= 4.5


def test_disabled_buttons_of_play_can_be_read():
    style = (files("crumple.studio") / "page" / "play.css").read_text()
    found = re.search(r"button:disabled \{ color: (#\w{6}); background: (#\w{6})", style)
    assert found
    assert contrast(*found.groups()) >= 4.5
