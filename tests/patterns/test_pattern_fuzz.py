"""Damaged FOLD and SVG files: read, or refused in one line; never a traceback."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crumple.patterns import (
    box,
    check_pattern,
    encode_fold,
    encode_svg,
    fold_angles,
    kresling,
    mesh_pattern,
    miura,
    pleats,
    read_pattern,
    waterbomb,
)
from crumple.patterns.pattern import make_pattern
from crumple.runtime.errors import InputError

CASES = 1000
GOOD = [
    miura(3, 3, 0.02, 0.02, 1.0, 2.0),
    waterbomb(2, 2, 0.04),
    kresling(5, 0.03, 0.03, 0.5),
    pleats(0.2, 0.1, 3),
    box(0.1, 0.06, 0.1),
]
ODD_VALUES: list[Any] = [
    None, True, "", "x", [], {}, [[]], -1, 0, 1e308, -1e-308, 10**40, 0.5, [1, 2, 3], "B", "M", 180, -180.0, [None],
]  # fmt: skip
ODD_TEXT = [
    "<",
    ">",
    '"',
    "&",
    "&amp;",
    "&#0;",
    "]]>",
    "e99",
    "-",
    "nan",
    "M",
    "Z",
    "A",
    "é",
    "1e9",
    "0",
    ",",
    "\x00",
    " ",
]
EXTRA_SVG = [
    '<path d="M0 0C1 2 3 4 50 60A5 9 30 1 0 7 8Q1 1 90 2T5 5S1 2 3 4Z" stroke="red"/>',
    '<g transform="rotate(30) skewX(10) scale(0.5 2)"><circle r="9" stroke="blue"/></g>',
    "<style>.a{stroke:red;opacity:0.3} line{stroke-opacity:50%}</style>",
    '<polygon class="a" points="0,0 30,0 30,40" stroke="lime"/>',
    '<ellipse cx="3" cy="4" rx="20" ry="9" stroke="yellow" opacity="0.1"/>',
]


def damaged_fold(case: int) -> bytes:
    """A FOLD file with a few values replaced, removed, repeated or nested, or with damaged text."""
    chance = random.Random(case)
    frames = [{"frame_classes": ["foldedForm"], "frame_inherit": True, "frame_parent": 0}]
    record = json.loads(encode_fold(chance.choice(GOOD), frames))
    for _ in range(chance.randint(1, 4)):
        place: Any = record
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = chance.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.75:
                place = place[key]
                continue
            action = chance.random()
            if action < 0.6:
                place[key] = chance.choice(ODD_VALUES)
            elif action < 0.8:
                del place[key]
            elif isinstance(place, list):
                place.append(place[key])
            break
    text = json.dumps(record).encode()
    return text if chance.random() < 0.7 else cut_up(text, chance)


def damaged_svg(case: int) -> bytes:
    """An SVG file with more shapes and damaged text."""
    chance = random.Random(case)
    text = encode_svg(chance.choice(GOOD))
    for _ in range(chance.randint(0, 3)):
        text = text.replace("</g>", chance.choice(EXTRA_SVG) + "</g>", 1)
    return cut_up(text.encode(), chance, markup=chance.random() < 0.5)


def cut_up(text: bytes, chance: random.Random, *, markup: bool = True) -> bytes:
    """A text with pieces removed, repeated or replaced; only digits where `markup` is to stay sound."""
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text))
        if not markup:
            digits = [k for k in range(len(text)) if chr(text[k]).isdigit() and k > 120]
            at = chance.choice(digits)
            text = text[:at] + chance.choice([b"", b"-", b"9", b"e5", b".", b"0 0", b"1e-9", b"1e300"]) + text[at + 1 :]
            continue
        length = chance.choice([1, 1, 3, 30])
        piece = text[at : at + length]
        new = chance.choice([b"", piece + piece, chance.choice(ODD_TEXT).encode()])
        text = text[:at] + new + text[at + length :]
    return text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fold", "svg"])
def test_damaged_files(kind, tmp_path):
    damage = damaged_fold if kind == "fold" else damaged_svg
    path = tmp_path / f"x.{kind}"
    read, refused, messages = 0, 0, list[str]()
    for case in range(CASES):
        path.write_bytes(damage(case))
        try:
            use(path, meshed=case % 10 == 0)
            read += 1
        except InputError as error:
            refused += 1
            messages.append(str(error))
    assert read > CASES // 20
    assert refused > CASES // 20
    assert not [text for text in messages if "\n" in text or len(text) > 1000]


def use(path: Path, *, meshed: bool) -> None:
    """Read a pattern and do with it what a scene does."""
    pattern = read_pattern(path)
    check_pattern(pattern)
    encode_fold(pattern)
    fold_angles(pattern, 0.5)
    if meshed:
        mesh_pattern(pattern, float(pattern.extent.max()) / 10)


def test_random_lines():
    """Lines thrown at random: their facets cover what they enclose, and no edges cross."""
    from crumple.patterns.planar import pattern_from_segments

    for case in range(20):
        random_lines = np.random.default_rng(case).uniform(0, 1, (25, 2, 2))
        rim = np.array([[[0, 0], [1, 0]], [[1, 0], [1, 1]], [[1, 1], [0, 1]], [[0, 1], [0, 0]]], float)
        segments = np.concatenate([rim, random_lines])
        pattern = pattern_from_segments(segments, [*"BBBB", *["M"] * 25], np.ones(29), snap=1e-3)
        area = 0.0
        for loops in pattern.facets.rings:
            for loop in loops:
                x, y = pattern.vertices[loop].T
                area += 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
        assert area == pytest.approx(1.0, abs=1e-2), case
        assert not [f for f in check_pattern(pattern) if f.kind == "crossing"], case


def test_limits_come_first():
    with pytest.raises(InputError, match="at most"):
        make_pattern(np.zeros((2, 2)), np.tile([0, 1], (200_000, 1)), ["M"] * 200_000)
