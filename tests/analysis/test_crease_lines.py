"""Crease lines one by one: their angles and spring-back."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.analysis.crease_lines import measure_crease_lines
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
