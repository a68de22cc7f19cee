"""Patterns that fold flat: how far the thickness of the sheet lets them, what is told of it, and what stops others."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.analysis.analyze import recording_model
from crumple.analysis.crease_lines import measure_crease_lines, tally_creases
from crumple.analysis.crease_stops import FACETS, LAYERS, THICKNESS, flat_limits, touched_facets
from crumple.boundary.creases import closing_limits
from crumple.cli.app import app
from crumple.contact import find_intersections, make_surface
from crumple.patterns import pleats, write_fold
from crumple.patterns.pattern import make_pattern
from crumple.recording import Recording
from crumple.scenes import build, load_scene
from crumple.state import State


def square_twist(side: float = 0.06, turn: float = 60.0):
    """A square twist by `turn` [degrees] in a square of `side` [m]: pleats leave the sides of a turned square in the
    middle, all creases fold flat, and no rigid motion leads there."""
    at = np.radians(45.0 + 90.0 * np.arange(4) - turn)
    corner = 0.17 * side * np.stack([np.cos(at), np.sin(at)], axis=1)
    points, edges, letters = [*corner.tolist()], [], []
    border = []
    for k in range(4):
        direction = np.round([np.cos(np.pi * (k + 1) / 2), np.sin(np.pi * (k + 1) / 2)])
        along, across = direction, np.array([-direction[1], direction[0]])
        for first, letter in ((k, "M"), ((k + 1) % 4, "V")):
            points.append((0.5 * side * along + (corner[first] @ across) * across).tolist())
            edges.append((first, len(points) - 1))
            letters.append(letter)
        edges.append((k, (k + 1) % 4))
        letters.append("V")
        points.append((0.5 * side * (along + across)).tolist())
        border += [len(points) - 3, len(points) - 2, len(points) - 1]
    ring = list(zip(border, border[1:] + border[:1], strict=True))
    return make_pattern(np.array(points), np.array(edges + ring), letters + ["B"] * len(ring))


def vertex_pattern(side: float = 0.05):
    """A single vertex of degree four that folds flat: sectors of 60°, 90°, 120° and 90° (Kawasaki), three creases one
    way and one the other (Maekawa)."""
    angles = np.radians([30.0, 90.0, 180.0, 300.0])
    rim = side * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.concatenate([np.zeros((1, 2)), rim])
    creases = [(0, k) for k in range(1, 5)]
    border = [(1, 2), (2, 3), (3, 4), (4, 1)]
    return make_pattern(points, np.array(creases + border), ["V", "M", "M", "M", "B", "B", "B", "B"])


def folded(tmp_path, pattern, *options: str) -> tuple[object, State, str]:
    """Model, last state and what was printed of a pattern that is run with its defaults."""
    write_fold(tmp_path / "p.fold", pattern)
    given = [word for option in options for word in ("--set", option)]
    result = CliRunner().invoke(app, ["run", str(tmp_path / "p.fold"), "--out", str(tmp_path / "run"), *given])
    assert result.exit_code == 0, result.output
    recording = Recording(tmp_path / "run")
    return recording_model(recording), recording.load(-1), result.output + result.stderr


def crossings(state: State) -> int:
    """Edges of the last state that pass through faces."""
    return len(find_intersections(make_surface(state.mesh.face_nodes, state.mesh.node_rest, dhat=1e-9), state.x))


def test_limits_are_those_of_layers_that_lie_on_each_other(tmp_path):
    """Two strips of height h that are a apart at their rims enclose asin(a/h)."""
    write_fold(tmp_path / "p.fold", pleats(0.1, 0.05, 1, np.pi))
    model, state, notes = build(load_scene(tmp_path / "p.fold", ["sheets[0].shape.size=0.02"]))
    apart = model.contact.sheet_thickness[0] + model.contact.activation
    limit = flat_limits(model, state.mesh)
    assert limit == pytest.approx(closing_limits(state.mesh, apart))
    i, j, a, b = state.mesh.node_rest[state.mesh.hinges.nodes].transpose(1, 0, 2)
    for apex in (a, b):
        height = np.linalg.norm(np.cross(j - i, apex - i), axis=1) / np.linalg.norm(j - i, axis=1)
        assert (height * np.sin(np.pi - limit) >= (1 - 1e-9) * apart).all()
    assert closing_limits(state.mesh, 1.0) == pytest.approx(np.pi / 2)
    assert any("1 creases that fold flat end at about 17" in note for note in notes)
    open_model, open_state, notes = build(
        load_scene(tmp_path / "p.fold", ["sheets[0].shape.size=0.02", "contact.enabled=false"])
    )
    assert flat_limits(open_model, open_state.mesh) == pytest.approx(np.pi)
    assert not touched_facets(open_model, open_state).any()
    assert not any("fold flat" in note for note in notes)


def test_a_vertex_folds_as_flat_as_the_sheet_is_thin(tmp_path):
    model, state, told = folded(tmp_path, vertex_pattern())
    lines = measure_crease_lines(model, state)
    assert len(lines) == 4
    for line in lines:
        assert abs(line.angle) > line.limit - 5.0, line
        assert np.sign(line.angle) == np.sign(line.target)
        assert abs(line.off) < 6.0
    assert crossings(state) == 0
    assert "4 creases that fold flat end at about 17" in told
    assert "are as flat as the thickness of the sheet allows" in told or "all 4 creases are within 1°" in told


@pytest.mark.slow
def test_a_square_twist_folds_flat(tmp_path):
    """No rigid motion leads there, so facets bend on the way."""
    model, state, told = folded(tmp_path, square_twist())
    lines = measure_crease_lines(model, state)
    assert len(lines) == 12
    assert all(line.drive == "spring" for line in lines)
    assert min(line.angle * np.sign(line.target) - line.limit for line in lines) > -5.0
    tally = tally_creases(lines)
    assert tally.short == 0
    assert crossings(state) == 0
    assert "as flat as the thickness of the sheet allows" in told


def test_what_stops_a_crease_is_told(tmp_path):
    """A crease that cannot close because its hard neighbour holds the facets apart, with nothing in touch; and one that
    is stopped by layers."""
    write_fold(tmp_path / "p.fold", pleats(0.1, 0.05, 1, np.pi))
    model, state, _ = build(load_scene(tmp_path / "p.fold", ["sheets[0].shape.start=0"]))
    state = state.replaced(time=1.0)
    (line,) = measure_crease_lines(model, state)
    assert (line.stopped_by, line.target) == (FACETS, pytest.approx(180.0))  # flat at the end of the drive
    told = tally_creases([line]).describe()
    assert "0 of 1 creases are within 1° of their angles, 1 not; 1 by their facets" in told
    x = state.x.copy()  # closed to a wedge of 2°, within what the thickness allows
    middle = 0.5 * (x[:, 0].min() + x[:, 0].max())
    right = x[:, 0] > middle
    opening = np.pi - closing_limits(state.mesh, 1.2 * state_apart(model)).max()
    height = x[right, 0] - middle
    x[right, 0] = middle - height * np.cos(opening)
    x[right, 2] -= height * np.sin(opening)
    (line,) = measure_crease_lines(model, state.replaced(x=x))
    assert line.stopped_by == THICKNESS, line
    assert "1 are as flat as the thickness of the sheet allows" in tally_creases([line]).describe()
    x[right, 0] = middle - height * np.cos(0.5)
    x[right, 2] = -height * np.sin(0.5)
    (line,) = measure_crease_lines(model, state.replaced(x=x))
    assert line.stopped_by == FACETS
    nearest = np.flatnonzero(right)[np.argmax(height)]
    x[nearest, 2] = -model.contact.sheet_thickness[0] - 0.5 * model.contact.activation
    x[nearest, 0] = middle - height.max() * 0.7
    (line,) = measure_crease_lines(model, state.replaced(x=x))
    assert line.stopped_by == LAYERS


def state_apart(model) -> float:
    """Thickness and contact gap [m]."""
    return float(model.contact.sheet_thickness[0] + model.contact.activation)


def test_analysis_counts_what_is_flat_and_what_falls_short(tmp_path):
    """`crumple analyze` has the numbers for scripts."""
    write_fold(tmp_path / "p.fold", pleats(0.1, 0.05, 1, np.radians(150.0)))
    run = ["run", str(tmp_path / "p.fold"), "--out", str(tmp_path / "run"), "--frames", "3"]
    assert CliRunner().invoke(app, run).exit_code == 0
    result = CliRunner().invoke(app, ["analyze", str(tmp_path / "run"), "--frame", "-1", "--json"])
    found = json.loads(result.stdout)
    assert found["creases_flat"] == 0
    assert found["creases_short"] == 0
