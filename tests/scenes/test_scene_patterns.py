"""Crease patterns in scenes: shapes, files given as scenes, what `check` tells, and that they fold to their angles."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.export import export_recording
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.patterns import (
    box,
    check_pattern,
    fold_angles,
    mesh_pattern,
    miura,
    pleats,
    read_fold,
    rigid,
    write_fold,
    write_svg,
)
from crumple.plasticity import hinge_labels
from crumple.recording import Recording
from crumple.scenes import build, check_scene, load_scene, scene_from_tables
from crumple.scenes.messages import SceneError
from crumple.scenes.pattern_scene import MOST_FACES, facet_size

SHAPES = {
    "miura": {"columns": 3, "rows": 2, "a": 0.02, "b": 0.02},
    "waterbomb": {"columns": 2, "rows": 2, "cell": 0.03},
    "kresling": {"sides": 6, "radius": 0.03, "height": 0.045, "twist": 45},
    "pleats": {"width": 0.1, "height": 0.06, "count": 5},
    "box": {"width": 0.05, "depth": 0.03, "height": 0.06},
}


def scene(shape, **sheet):
    tables = {"sheets": [{"material": "paper80", "shape": shape, **sheet}], "contact": {"activation": 2e-4}}
    return scene_from_tables(tables, source="scene.toml")


def crease_angles(state) -> dict[int, tuple[float, float]]:
    """Mean rest and present angle [degrees] by label."""
    rest = np.degrees(rest_angle(curvature_stencil(state.mesh), state.plastic_curvature))
    now, label = np.degrees(dihedral_angles(state.x, state.mesh.hinges.nodes)), hinge_labels(state.mesh)
    return {int(k): (rest[label == k].mean(), now[label == k].mean()) for k in np.unique(label[label > 0])}


@pytest.mark.parametrize("kind", SHAPES)
def test_generated_shapes(kind):
    _, state, _ = build(scene({"kind": kind, "size": 0.01, "fold": 0.5, "start": 0.5, **SHAPES[kind]}))
    angles = crease_angles(state)
    assert len(angles) >= 5
    assert np.abs(state.x.max(axis=0) + state.x.min(axis=0)).max() < 1e-12  # centred
    for rest, now in angles.values():
        assert 5 < abs(rest) <= 100
        assert 0.2 * abs(rest) < now * np.sign(rest) < 0.8 * abs(rest)


def test_rest_angles_are_those_of_the_pattern(tmp_path):
    pattern = miura(3, 3, 0.02, 0.02, np.radians(60), np.radians(90))
    write_fold(tmp_path / "m.fold", pattern)
    _, state, _ = build(scene({"kind": "pattern", "file": str(tmp_path / "m.fold"), "size": 0.008}))
    for label, (rest, now) in crease_angles(state).items():
        assert rest == pytest.approx(np.degrees(pattern.angle[label - 1]), abs=1e-6)
        assert now == pytest.approx(0.0, abs=1e-9)
    _, state, _ = build(scene({"kind": "pattern", "file": str(tmp_path / "m.fold"), "size": 0.008}, folded=True))
    for rest, now in crease_angles(state).values():
        assert now == pytest.approx(rest, abs=0.1)


def test_user_creases_beside_those_of_the_pattern(tmp_path):
    write_svg(tmp_path / "p.svg", pleats(0.1, 0.05, 1, np.radians(60)))
    shape = {"kind": "pattern", "file": str(tmp_path / "p.svg"), "size": 0.01}
    creases = [{"line": [[0.025, 0], [0.025, 0.05]], "angle": -30}]
    _, state, _ = build(scene(shape, creases=creases))
    assert sorted(round(rest) for rest, _ in crease_angles(state).values()) == [-30, 60]


def test_loose_creases_fold_too(tmp_path):
    body = '<rect width="100" height="80" stroke="black"/><path d="M50 0V40" stroke="red" opacity="0.25"/>'
    (tmp_path / "x.svg").write_text(f'<svg width="100mm" height="80mm" viewBox="0 0 100 80">{body}</svg>')
    report = check_scene(tmp_path / "x.svg")
    assert report.ok
    assert any("separates no facets" in note for note in report.notes)
    _, state, _ = build(load_scene(tmp_path / "x.svg", ["sheets[0].shape.fold=1.0"]))
    (angle,) = crease_angles(state).values()
    assert angle[0] == pytest.approx(45, abs=1e-6)


def test_wrong_signs_are_told(tmp_path):
    pattern = miura(3, 3, 0.02, 0.02, np.radians(60))
    edge = int(np.flatnonzero(pattern.creases)[3])
    pattern.assignment[edge] = "V" if pattern.assignment[edge] == "M" else "M"
    pattern.angle[edge] *= -1
    write_fold(tmp_path / "bad.fold", pattern)
    report = check_scene(tmp_path / "bad.fold")
    assert any("creases do not fit at vertex" in note for note in report.notes), report
    result = CliRunner().invoke(app, ["check", str(tmp_path / "bad.fold")])
    assert "creases do not fit at vertex" in result.output + result.stderr
    with pytest.raises(SceneError, match="start"):
        build(load_scene(tmp_path / "bad.fold", ["sheets[0].shape.start=0.5"]))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"kind": "miura", "size": 0.01}, "columns"),
        ({"kind": "pattern", "size": 0.01, "file": "nowhere.fold"}, "no such file"),
        ({"kind": "box", "size": 0.01, "width": 0.1, "depth": 0.1, "height": 0.1, "slot": 0.09}, "box.slot"),
        ({"kind": "pleats", "size": 1e-6, "width": 1, "height": 1, "count": 3}, "faces"),
        ({"kind": "miura", "size": 0.01, "columns": 2, "rows": 2, "a": 0.1, "b": 0.1, "fold": 2}, "fold = 2"),
    ],
)
def test_problems_name_the_shape(shape, message):
    with pytest.raises(SceneError, match=message):
        build(scene(shape))


def test_files_that_are_no_patterns(tmp_path):
    for name, text in (("a.fold", "{}"), ("b.svg", "<svg/>"), ("c.svg", "hello")):
        (tmp_path / name).write_text(text)
        report = check_scene(tmp_path / name)
        assert len(report.errors) == 1
        assert name in report.errors[0]


@pytest.mark.slow
def test_fold_run_fold_run(tmp_path):
    """A Miura-ori reaches its angles; the FOLD file of the run folds again the same way."""
    pattern = miura(2, 2, 0.02, 0.02, np.radians(60), np.radians(90))
    write_fold(tmp_path / "m.fold", pattern)
    wanted = None
    for file in ("m.fold", "again.fold"):
        folder = tmp_path / f"run-{file}"
        options = ["--set", "run.frame_time=0.15", "--set", "run.duration=0.9"]
        result = CliRunner().invoke(app, ["run", str(tmp_path / file), "--out", str(folder), *options])
        assert result.exit_code == 0, result.output
        state = Recording(folder).load(-1)
        angles = sorted(now for _, now in crease_angles(state).values())
        if wanted is None:
            wanted = angles
            assert angles == pytest.approx(sorted(np.degrees(pattern.angle[pattern.creases])), abs=0.01)
        else:
            assert np.abs(np.subtract.outer(angles, wanted)).min(axis=1).max() < 0.01
            assert np.abs(np.subtract.outer(angles, wanted)).min(axis=0).max() < 0.01
        export_recording(Recording(folder), output=tmp_path / "again.fold")
    record = json.loads((tmp_path / "again.fold").read_text())
    assert len(record["file_frames"]) == 7
    again = read_fold(tmp_path / "again.fold")
    assert len(again.faces) == 4
    assert check_pattern(again) == []
    folded = record["file_frames"][-1]
    assert np.abs(np.array(folded["vertices_coords"])[:, 2]).max() > 1e-3
    assert len(folded["edges_foldAngle"]) == len(record["edges_vertices"])


def test_box_scene_defaults(tmp_path):
    write_svg(tmp_path / "carton.svg", box(0.05, 0.03, 0.06))
    made = load_scene(tmp_path / "carton.svg", ["sheets[0].material='card'"])
    assert made.name == "carton"
    assert made.sheets[0].shape.fold == 1.0
    assert made.sheets[0].shape.start > 0.0
    assert made.remeshing is None


def test_slits_inside_facets_open(tmp_path):
    """Kirigami: slits that end inside the sheet, one from its border, one across a crease."""
    slits = (
        '<path d="M20 20H80M0 40H30M40 60L60 70L80 60" stroke="lime"/><path d="M50 0V80" stroke="red" opacity="0.2"/>'
    )
    body = f'<rect width="100" height="80" stroke="black"/>{slits}'
    (tmp_path / "k.svg").write_text(f'<svg width="100mm" height="80mm" viewBox="0 0 100 80">{body}</svg>')
    report = check_scene(tmp_path / "k.svg")
    assert report.ok
    assert any("are slits" in note for note in report.notes)
    _, whole, _ = build(load_scene(tmp_path / "k.svg"))
    mesh = whole.mesh
    assert mesh.node_count - mesh.hinges.nodes.shape[0] + mesh.face_count != 1  # it has holes
    for x, y in ((50, 60), (15, 40), (50, 15)):  # SVG counts y from above
        near = np.linalg.norm(mesh.u - np.array([x, y]) / 1000, axis=1)
        assert mesh.boundary_nodes[mesh.vertex_node[np.argmin(near)]]
        assert np.sort(near)[1] < 0.2e-3  # a node on each side


def test_curved_creases_are_driven_hard_from_flat(tmp_path):
    body = '<rect width="80" height="50" stroke="#000"/><path d="M0 15Q40 45 80 15" stroke="red" opacity="0.3"/>'
    (tmp_path / "c.svg").write_text(f'<svg width="80mm" height="50mm" viewBox="0 0 80 50">{body}</svg>')
    report = check_scene(tmp_path / "c.svg")
    assert report.ok
    assert [note for note in report.notes if "curved creases" in note]
    made = load_scene(tmp_path / "c.svg")
    assert made.sheets[0].shape.start == 0.0
    model, _, _ = build(made)
    (crease,) = model.creases
    assert crease.drive == "hard"
    assert np.degrees(crease.angle_at(1.0)) == pytest.approx(54.0)


def test_unknown_groups_name_those_there_are(tmp_path):
    body = '<rect width="80" height="50" stroke="#000"/><g id="lid"><path d="M40 0V50" stroke="red"/></g>'
    (tmp_path / "g.svg").write_text(f'<svg width="80mm" height="50mm" viewBox="0 0 80 50">{body}</svg>')
    shape = {"kind": "pattern", "file": str(tmp_path / "g.svg"), "size": 0.01}
    with pytest.raises(SceneError, match="its groups are lid"):
        build(scene(shape, creases=[{"group": "lead", "drive": "free"}]))


def test_patterns_with_many_narrow_facets_start_with_a_coarse_mesh(tmp_path):
    """120 pleats have far more faces at a size that resolves them than a first look needs."""
    write_fold(tmp_path / "narrow.fold", pleats(0.2, 0.2, 120))
    write_fold(tmp_path / "few.fold", pleats(0.2, 0.2, 3))
    narrow, few = (load_scene(tmp_path / name) for name in ("narrow.fold", "few.fold"))
    pattern = read_fold(tmp_path / "narrow.fold")
    assert mesh_pattern(pattern, facet_size(pattern)).mesh.face_count > 1.5 * MOST_FACES
    assert narrow.sheets[0].shape.size > 1.2 * facet_size(pattern)
    assert build(narrow).state.mesh.face_count <= MOST_FACES
    assert few.sheets[0].shape.size == facet_size(read_fold(tmp_path / "few.fold"))


def test_how_creases_are_driven_follows_from_the_fold_that_is_asked_for(tmp_path, monkeypatch):
    """A pattern that fits half way and not when it is folded all the way; what the user gives is left alone."""
    path = tmp_path / "steep.fold"
    write_fold(path, miura(2, 2, 0.03, 0.03, np.radians(60.0), np.radians(150.0)))
    known = fold_angles
    monkeypatch.setattr(
        "crumple.scenes.pattern_scene.fold_angles", lambda pattern, fold: known(pattern, fold) if fold <= 0.5 else None
    )
    half = load_scene(path, ["sheets[0].shape.fold=0.5"])
    assert [crease.drive for crease in half.sheets[0].creases] == ["hard"]
    assert half.sheets[0].shape.start == 0.25
    whole = load_scene(path)
    assert whole.sheets[0].shape.fold == 1.0
    assert [crease.drive for crease in whole.sheets[0].creases] == ["spring"]
    assert whole.sheets[0].shape.start == 0.0
    own = load_scene(path, ["sheets[0].shape.fold=1", "sheets[0].creases=[]", "sheets[0].shape.start=0.1"])
    assert list(own.sheets[0].creases) == []
    assert own.sheets[0].shape.start == 0.1
    with pytest.raises(SceneError, match="fold"):
        load_scene(path, ["sheets[0].shape.fold=2"])


def test_checking_a_large_pattern_solves_little(tmp_path, monkeypatch):
    """A drive is followed from fold to fold, and the plastic embedding is not sought: no check asks for it."""
    solved, least_change = [], rigid._least_change
    monkeypatch.setattr(rigid, "_least_change", lambda *given: solved.append(1) or least_change(*given))
    monkeypatch.setattr("crumple.scenes.creases.Embedding.settle", None)
    write_fold(tmp_path / "large.fold", miura(20, 20, 0.01, 0.01, np.radians(70)))
    report = check_scene(tmp_path / "large.fold", overrides=["sheets[0].shape.fold=0.5"])
    assert report.ok, report.errors
    assert 0 < len(solved) < 200  # 298 where every one of the 49 samples of a drive begins at its targets
