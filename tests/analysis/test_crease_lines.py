"""Crease lines one by one: their angles and spring-back."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.analysis.crease_lines import measure_crease_lines, tally_creases
from crumple.scenes import build, scene_from_tables

LINES = [[[0.03, 0], [0.03, 0.05]], [[0.06, 0], [0.06, 0.05]], [[0.09, 0], [0.09, 0.05]]]


def test_spring_back_is_the_angle_beyond_that_at_rest():
    """A flat sheet: a set crease that was folded, a spring that wants 30°, and a hard crease."""
    creases = [
        {"line": LINES[0], "angle": 40},
        {"name": "spring", "line": LINES[1], "drive": "spring", "angle": 30},
        {"name": "held", "line": LINES[2], "drive": "hard", "angle": 10},
    ]
    shape = {"kind": "rectangle", "width": 0.12, "height": 0.05, "size": 0.015}
    tables = {"sheets": [{"name": "card", "material": "card", "shape": shape, "creases": creases}]}
    model, state, _ = build(scene_from_tables(tables, source="lines"))
    lines = measure_crease_lines(model, state)
    assert [line.drive for line in lines] == ["set", "spring", "hard"]
    assert [line.name for line in lines] == ["", "spring", "held"]
    assert {line.sheet for line in lines} == {"card"}
    assert [line.length for line in lines] == pytest.approx([0.05] * 3)
    assert [line.angle for line in lines] == pytest.approx([0.0] * 3, abs=1e-6)
    assert lines[0].spring_back == pytest.approx(-40.0, abs=0.01)
    assert lines[1].spring_back == pytest.approx(-30.0, abs=0.01)
    assert np.isnan(lines[2].spring_back)


def test_the_tally_says_how_many_lines_are_where_they_should_be():
    """Springs that want 0.5°, 3° and 40°, a free line that wants nothing, on a flat sheet."""
    lines = [[[0.02 * k, 0], [0.02 * k, 0.05]] for k in range(1, 5)]
    creases = [{"line": lines[k], "drive": "spring", "angle": angle} for k, angle in enumerate((0.5, 3.0, 40.0))]
    creases.append({"line": lines[3], "drive": "free"})
    shape = {"kind": "rectangle", "width": 0.1, "height": 0.05, "size": 0.02}
    tables = {"sheets": [{"name": "card", "material": "card", "shape": shape, "creases": creases}]}
    model, state, _ = build(scene_from_tables(tables, source="lines"))
    found = measure_crease_lines(model, state)
    assert [line.off for line in found[:3]] == pytest.approx([-0.5, -3.0, -40.0], abs=1e-6)
    assert np.isnan(found[3].target)
    tally = tally_creases(found)
    assert (tally.within_1, tally.within_5, tally.beyond) == (1, 1, 1)
    assert "1 of 3 creases are within 1° of their angles, 1 within 5°, 1 not" in tally.describe()
    assert "at -0° of 40°" in tally.describe() or "at 0° of 40°" in tally.describe()
    assert tally_creases(found[3:]).describe() == ""
    assert tally_creases(found[:1]).describe() == "all 1 creases are within 1° of their angles"
