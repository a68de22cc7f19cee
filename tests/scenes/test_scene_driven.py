"""Driven and pressed creases in scenes: what is selected, what is refused, and that patterns fold over time."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.contact import find_intersections
from crumple.geometry.hinge import dihedral_angles
from crumple.model.derived import Derived
from crumple.patterns import miura, write_fold
from crumple.plasticity import hinge_labels
from crumple.scenes import build, check_scene, scene_from_tables
from crumple.scenes.crease_drives import smooth_table
from crumple.scenes.messages import SceneError
from crumple.simulation.frame import advance_frame

LINE = [[0.05, 0], [0.05, 0.1]]
KEYS = [{"time": 0, "angle": 0}, {"time": 1, "angle": 90}]
SHEET = {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.02}
MIURA = {"kind": "miura", "columns": 2, "rows": 2, "a": 0.02, "b": 0.02, "size": 0.012}


def made(shape, *creases, **tables):
    sheet = {"material": "paper80", "shape": shape, "creases": list(creases)}
    scene = {"contact": {"activation": 2e-4}, "sheets": [sheet]} | tables
    return build(scene_from_tables(scene, source="scene.toml"))[:2]


def label_angles(state):
    """Mean angle by label [degrees]."""
    angle, label = np.degrees(dihedral_angles(state.x, state.mesh.hinges.nodes)), hinge_labels(state.mesh)
    return {int(k): float(angle[label == k].mean()) for k in np.unique(label[label > 0])}


def test_keys_are_smooth_and_do_not_overshoot():
    times, values = smooth_table(np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0, 1.0]))
    assert values.min() == 0.0
    assert values.max() == 1.0
    assert {0.0, 1.0, 3.0} <= set(times.tolist())
    slope = np.diff(values) / np.diff(times)
    assert abs(slope[0]) < 0.15
    assert np.abs(np.diff(slope)).max() < 0.2


def test_hard_creases_of_a_line():
    model, state = made(SHEET, {"name": "fold", "line": LINE, "drive": "hard", "keys": KEYS, "strength": 0.3})
    (crease,) = model.creases
    assert (crease.name, crease.drive, crease.strength) == ("fold", "hard", 0.3)
    assert crease.angle_at(0.5)[0] == pytest.approx(np.radians(45), abs=1e-9)
    assert not state.plastic_curvature.any()
    assert set(crease.labels.tolist()) == set(np.unique(state.mesh.edge_label[state.mesh.edge_label > 0]).tolist())


@pytest.mark.parametrize(
    "where", [{"select": "all"}, {"select": "M"}, {"select": "V"}, {"group": "zigzag"}, {"edges": list(range(12))}]
)
def test_creases_of_patterns_are_selected_and_valleys_fold_the_other_way(where):
    model, _ = made(MIURA, {**where, "drive": "spring", "angle": 30})
    (crease,) = model.creases
    pattern = miura(2, 2, 0.02, 0.02, np.radians(60), np.radians(90))
    own = pattern.assignment[crease.labels - 1]
    chosen = pattern.creases.copy()
    if where.get("select") in ("M", "V"):
        chosen &= pattern.assignment == where["select"]
    elif "group" in where:
        chosen &= pattern.group == pattern.group_names.index("zigzag")
    assert len(crease.labels) == chosen.sum() > 0
    np.testing.assert_allclose(crease.angles[0], np.where(own == "V", -1, 1) * np.radians(30))


def test_shares_of_the_fold_follow_the_rigid_motion():
    model, state = made(
        MIURA, {"select": "all", "drive": "hard", "keys": [{"time": 0, "fold": 0}, {"time": 1, "fold": 1}]}
    )
    (crease,) = model.creases
    pattern = miura(2, 2, 0.02, 0.02, np.radians(60), np.radians(90))
    zigzag = np.array([pattern.group_names[g] == "zigzag" for g in pattern.group[crease.labels - 1]])
    for time in (0.3, 0.6, 1.0):
        angle = np.abs(crease.angle_at(time))
        expected = 2 * np.arctan(0.5 * np.tan(angle[zigzag][0] / 2))
        np.testing.assert_allclose(angle[~zigzag], expected, atol=2e-4)
    assert not state.plastic_curvature.any()


@pytest.mark.parametrize(
    ("crease", "message"),
    [
        ({"line": LINE, "keys": KEYS}, r"creases\[0\].*keys need a drive"),
        ({"line": LINE, "drive": "hard"}, r"creases\[0\].*angle or keys"),
        ({"line": LINE, "drive": "hard", "angle": 3, "keys": KEYS}, "either an angle or keys"),
        ({"line": LINE, "drive": "hard", "keys": KEYS[::-1]}, "ascending"),
        ({"line": LINE, "drive": "hard", "keys": [{"time": 0}]}, "either an angle or a fold"),
        ({"line": LINE, "drive": "hard", "keys": [{"time": 0, "fold": 0.5}]}, "crease pattern; use angle"),
        ({"group": "wall", "drive": "free"}, "for crease patterns"),
        ({"select": "all", "drive": "free"}, "no such creases"),
        ({"line": [*LINE, [0.07, 0.1]], "angle": 90, "double": True}, "two points"),
        ({"line": LINE, "drive": "hard", "angle": 90, "strength": 0}, r"strength = 0"),
        ({"line": LINE, "angle": 90, "press": {"engage": 0}}, "engage"),
        ({"line": LINE, "drive": "stiff", "angle": 90}, "drive"),
    ],
)
def test_nonsense_is_refused_in_one_line(crease, message):
    with pytest.raises(SceneError, match=message) as caught:
        made(SHEET, crease)
    assert "\n" not in str(caught.value)


def test_hard_creases_with_wrong_signs_do_not_fit(tmp_path):
    pattern = miura(3, 3, 0.02, 0.02, np.radians(60), np.radians(90))
    edge = int(np.flatnonzero(pattern.creases)[3])
    pattern.assignment[edge] = "V" if pattern.assignment[edge] == "M" else "M"
    pattern.angle[edge] *= -1
    write_fold(tmp_path / "bad.fold", pattern)
    shape = {"kind": "pattern", "file": str(tmp_path / "bad.fold"), "size": 0.01}
    keys = [{"time": 0, "fold": 0}, {"time": 1, "fold": 1}]
    with pytest.raises(SceneError, match=r"sheets\[0\]\.creases.*creases do not fit at vertex"):
        made(shape, {"select": "all", "drive": "hard", "keys": keys})
    made(shape, {"select": "all", "drive": "spring", "keys": keys})


def test_double_creases_halve_the_angle_and_leave_room():
    crease = {"line": LINE, "drive": "hard", "angle": 180, "double": True}
    model, _ = made(SHEET, crease, contact={"activation": 1e-3, "thickness": 5e-4})
    assert len(model.creases) == 2
    assert all(one.angles[0, 0] == pytest.approx(np.pi / 2) for one in model.creases)


def test_bands_make_the_sheet_stiffer():
    plain, _ = made(SHEET, {"line": LINE, "angle": 0})
    model, state = made(SHEET, {"line": LINE, "angle": 0, "band": {"width": 0.02, "factor": 10}})
    assert not plain.creases
    from crumple.terms.bending import band_factors

    factor = band_factors(state.mesh, model.creases)
    near = np.abs(state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0] - 0.05) <= 0.02
    np.testing.assert_array_equal(factor, np.where(near, 10.0, 1.0))


def test_a_miura_folds_by_its_zigzags_alone():
    """The straight creases are free and follow the rigid-folding relation tan(ρ_s/2) = cos α tan(ρ_z/2)."""
    model, state = made(
        MIURA,
        {"group": "zigzag", "drive": "hard", "keys": [{"time": 0, "angle": 0}, {"time": 0.2, "angle": 90}]},
        {"group": "straight", "drive": "free"},
        run={"frame_time": 0.05, "duration": 0.3},
        environment={"gravity": [0, 0, 0], "wind": {"density": 0, "drag": 5}},
    )
    for _ in range(6):
        state, _ = advance_frame(model, state)
    angles = label_angles(state)
    zigzag, straight = (sorted(abs(angles[int(k)]) for k in crease.labels) for crease in model.creases)
    np.testing.assert_allclose(zigzag, 90.0, atol=0.01)
    np.testing.assert_allclose(straight, np.degrees(2 * np.arctan(0.5)), atol=0.05)


def test_a_box_that_starts_closed_opens_by_what_contact_needs():
    """Folded entirely its walls would meet; it starts a little open and is driven to 90°."""
    shape = {"kind": "box", "width": 0.05, "depth": 0.03, "height": 0.04, "size": 0.02, "start": 1.0}
    tables = {"contact": {"activation": 3e-4}, "sheets": [{"material": "card", "shape": shape}]}
    scene = scene_from_tables(tables, source="box")
    _, state, notes = build(scene)
    assert any("so that its layers do not touch" in note for note in notes)
    assert scene.notes == (), "the scene itself is not changed"
    angles = [abs(angle) for angle in label_angles(state).values()]
    assert 80 < min(angles) < max(angles) < 100


@pytest.mark.slow
def test_corners_of_the_box_meet():
    """The wall at the other end of the blank comes as near to its corner as contact lets it, and stays there while the
    flaps close: within the thickness, the activation distance and 0.1 mm."""
    model, state, _ = build("box", quick=True)
    for _ in range(model.frame_count):
        state, _ = advance_frame(model, state)
    off, held = Derived(model, state).residuals(state)
    assert held.all()
    assert np.degrees(np.abs(off).max()) <= 0.1
    u, x = state.mesh.u, state.x[state.mesh.vertex_node]
    beside = (u[:, 1] > -1e-9) & (u[:, 1] < 0.05 + 1e-9)
    free, corner = x[beside & (u[:, 0] < 1e-9)], x[beside & (np.abs(u[:, 0] - 0.2) < 1e-9)]
    gap = np.linalg.norm(free[:, None] - corner[None], axis=2).min(axis=1)
    assert len(gap) >= 4
    assert gap.max() <= 0.3e-3 + 0.3e-3 + 0.1e-3
    surface = Derived(model, state).surface(state.time)
    assert len(find_intersections(surface, state.x)) == 0


def test_facets_that_collide_are_told(tmp_path):
    """A strip rolled into a square tube of five sides: the fifth passes through the first."""
    lines = "".join(f'<path d="M{20 * k} 0V30" stroke="red" opacity="0.5"/>' for k in range(1, 6))
    body = f'<rect width="110" height="30" stroke="black"/>{lines}'
    (tmp_path / "roll.svg").write_text(f'<svg width="110mm" height="30mm" viewBox="0 0 110 30">{body}</svg>')
    report = check_scene(tmp_path / "roll.svg")
    assert any(note.startswith("sheets[0].shape: facets") and "collide" in note for note in report.notes), report.notes
    (tmp_path / "open.svg").write_text((tmp_path / "roll.svg").read_text().replace("0.5", "0.2"))
    assert not any("collide" in note for note in check_scene(tmp_path / "open.svg").notes)


def test_folds_in_sequence_are_not_said_to_collide():
    shape = {"kind": "box", "width": 0.05, "depth": 0.03, "height": 0.04, "size": 0.02, "slot": 1e-3}
    first, second = KEYS, [{"time": 1, "angle": 0}, {"time": 2, "angle": 90}]
    for keys, reported in ((first, True), (second, False)):
        creases = [{"group": "wall", "drive": "hard", "keys": KEYS}, {"group": "flap", "drive": "hard", "keys": keys}]
        tables = {"contact": {"activation": 3e-4}, "sheets": [{"material": "card", "shape": shape, "creases": creases}]}
        made = scene_from_tables(tables, source="box")
        assert any("collide" in note for note in build(made).notes) == reported
