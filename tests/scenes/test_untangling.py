"""Starts that overlap are taken apart, or refused with the place."""

import numpy as np
import pytest
from grid_files import write_grid

from crumple.contact import find_candidates, find_intersections, min_gap
from crumple.model.derived import contact_surface
from crumple.scenes import SceneError, build, scene_from_tables
from crumple.simulation.frame import advance_frame

PAPER = {"preset": "paper80"}
D = 1e-3


def sheet(width=0.1, size=0.01, translate=(0, 0, 0), rotate=None, **more):
    move = {"translate": list(translate)} | ({} if rotate is None else {"rotate": rotate})
    shape = {"kind": "rectangle", "width": width, "height": width, "size": size}
    return {"shape": shape, "material": PAPER, "transform": move, **more}


def turned(axis, degrees):
    return {"axis": axis, "angle": degrees}


def scene(sheets, obstacles=(), **run):
    tables = {"run": {"untangle": True, "frame_time": 0.01, "duration": 0.01, **run}, "contact": {"activation": D}}
    return scene_from_tables(tables | {"sheets": sheets, "obstacles": list(obstacles)})


def separated(made):
    """The built scene, which must be free by the exact test, with open gaps; and how far nodes moved [m]."""
    model, state, notes = build(made)
    surface, x = contact_surface(model, state, 0.0), np.concatenate([state.x, state.obstacle_x])
    assert len(find_intersections(surface, x)) == 0
    assert min_gap(surface, find_candidates(surface, x, x, surface.reach), x)[0] > 0.0
    assert any("run.untangle" in note for note in notes)
    return model, state


def refused(made):
    """Whether the same scene is refused without untangling."""
    plain = made.model_copy(update={"run": made.run.model_copy(update={"untangle": False})})
    with pytest.raises(SceneError, match=r"untangle = true"):
        build(plain)
    return True


FLOOR = {"shape": {"kind": "plane", "width": 1, "height": 1}}
BALL = {"shape": {"kind": "sphere", "radius": 0.05}}
CASES = {
    "corner through a floor": ([sheet(translate=(0, 0, 0.03), rotate=turned([1, 1, 0], 26))], [FLOOR], 0.004),
    "side through a floor": ([sheet(translate=(0, 0, 0.0085), rotate=turned([1, 0, 0], 11))], [FLOOR], 0.004),
    "within the floor's thickness": ([sheet(translate=(0, 0, 1e-5))], [FLOOR], 0.001),
    "two sheets": (
        [sheet(name="a"), sheet(name="b", translate=(0.013, 0.007, 0.0019), rotate=turned([1, 0, 0], 3))],
        [],
        0.004,
    ),
    "a sphere's cap": (
        [sheet(translate=(0.003, 0.002, 0.048))],
        [{"shape": {"kind": "sphere", "radius": 0.05}}],
        0.006,
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_small_overlaps_are_undone_by_small_motions(name):
    sheets, obstacles, most = CASES[name]
    made = scene(sheets, obstacles)
    assert refused(made)
    model, state = separated(made)
    before = np.concatenate([build_x(one) for one in sheets])
    assert np.linalg.norm(state.x - before, axis=1).max() < most
    advance_frame(model, state)


def build_x(one):
    """Where the nodes of a sheet are by itself."""
    return build(scene([one], untangle=False)).state.x


def test_a_corner_through_its_own_sheet(tmp_path):
    """A sheet folded over, one corner of the upper layer 3 mm below the lower one."""
    u = np.stack(np.meshgrid(np.linspace(0.0, 0.1, 41), np.linspace(-0.02, 0.02, 17)), axis=2)
    mesh = write_grid(tmp_path / "fold.obj", u, folded_over)
    made = scene([{"shape": {"kind": "file", "mesh": str(mesh), "pattern": "uv"}, "material": PAPER, "rest": "start"}])
    assert refused(made)
    _, state = separated(made)
    assert np.linalg.norm(state.x - folded_over(u).reshape(-1, 3), axis=1).max() < 0.006


def folded_over(u, flat=0.045, radius=0.004):
    """The lower layer in z = 0, half a circle, and the upper layer that comes down towards its far corner."""
    s, v = u[..., 0], u[..., 1]
    angle = np.clip((s - flat) / radius, 0.0, np.pi)
    beyond = np.maximum(s - flat - np.pi * radius, 0.0)
    x = np.minimum(s, flat) + radius * np.sin(angle) - beyond
    return np.stack([x, v, radius * (1.0 - np.cos(angle)) - beyond * (0.2 + 3.0 * v)], axis=2)


def test_a_sheet_on_a_ring_cannot_be_taken_apart(tmp_path):
    """The ring goes through the sheet and around its border: no motion separates them, short of passing through."""
    around, tube, lines = 32, 12, []
    for i in range(around):
        for j in range(tube):
            a, b = 2 * np.pi * i / around, 2 * np.pi * j / tube
            r = 0.05 + 0.012 * np.cos(b)
            lines.append(f"v {0.05 + r * np.cos(a)} {0.012 * np.sin(b)} {r * np.sin(a)}")
    for i in range(around):
        for j in range(tube):
            corners = ((i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j))
            lines.append("f " + " ".join(str((a % around) * tube + b % tube + 1) for a, b in corners))
    (tmp_path / "ring.obj").write_text("\n".join(lines))
    ring = {"name": "ring", "shape": {"kind": "file", "mesh": str(tmp_path / "ring.obj")}}
    made = scene([sheet(name="card", translate=(0.0, 0, 0.001))], [ring])
    with pytest.raises(SceneError, match=r"run\.untangle.*'card' and 'ring' could not be taken apart, near \(.* m"):
        build(made)


def test_a_free_start_is_left_as_it_is():
    free = [sheet(translate=(0, 0, 0.05))]
    one, other = build(scene(free, [FLOOR])), build(scene(free, [FLOOR], untangle=False))
    assert np.array_equal(one.state.x, other.state.x)
    assert one.notes == other.notes


def test_held_nodes_stay_where_handles_hold_them():
    made = scene([sheet(name="a"), sheet(name="b", translate=(0.013, 0.007, 0.0019), rotate=turned([1, 0, 0], 3))])
    tables = made.tables() | {"handles": [{"sheet": "a", "select": {"kind": "all"}}]}
    _, state = separated(scene_from_tables(tables))
    own = state.mesh.node_sheet == 0
    assert np.array_equal(state.x[own], build_x(sheet(name="a")))
