"""Nothing intersects after a guarded remeshing of layers that nearly touch; an unguarded one does intersect."""

from __future__ import annotations

import math

import ipctk
import numpy as np
import pytest
from remeshing_samples import aspects, folded_stack, random_sizing

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.contact import Surface, has_intersections, make_surface
from crumple.mesh import SheetMesh
from crumple.options.remeshing import RemeshOptions
from crumple.remeshing import Guard, isotropic_sizing, remesh
from crumple.runtime.errors import InputError

LOOSE = RemeshOptions(strain_limit=math.inf, collapse_limit=0.8)
"""Leaves to the guard alone what is done."""

NOTHING = np.zeros((0, 3))


def lowest_gap(surface: Surface, x) -> float:
    """The least relative gap of the sheets at x."""
    return Guard(surface, x[surface.dynamic_count :]).lowest(x[: surface.dynamic_count])


def surface_of(mesh: SheetMesh, thickness: float) -> Surface:
    return make_surface(mesh.face_nodes, mesh.node_rest, part_thickness=thickness, dhat=1e-4, face_area=mesh.face_area)


def oracle(mesh: SheetMesh, x: np.ndarray) -> bool:
    return bool(ipctk.has_intersections(ipctk.CollisionMesh(x, mesh.edges, mesh.face_nodes), x))


@pytest.mark.parametrize(("thickness", "high"), [(0.0, 8e-3), (5e-5, 3e-2), (1e-4, 1.5e-2)])
def test_a_folded_stack_stays_apart(thickness: float, high: float) -> None:
    mesh, x = folded_stack()
    rng = np.random.default_rng(int(1e6 * thickness))
    x = x + 1e-5 * rng.uniform(-1, 1, x.shape)
    guard = Guard(surface_of(mesh, thickness), NOTHING)
    before = lowest_gap(guard.surface, x)
    assert before > 0.0
    sizing = random_sizing(mesh.vertex_count, rng, 1e-3, high, 0.4)
    result = remesh(mesh, sizing, x=x, guard=guard)
    done = result.statistics
    assert done.fallback == ""
    assert min(done.splits, done.flips, done.collapses) > 20
    after = guard.follow(result.mesh)
    assert cm.validate_mesh(result.mesh, result.x) == []
    assert not has_intersections(after, result.x)
    assert not oracle(result.mesh, result.x)
    assert lowest_gap(after, result.x) >= min(0.5 * before, 0.1) * (1 - 1e-9)


@pytest.mark.parametrize("seed", [7, 40])
def test_many_remeshings_of_a_stack_one_after_the_other(seed: int) -> None:
    """Coarse and fine in turn; edges that the guard does not let go must not make slivers beside them."""
    rng = np.random.default_rng(seed)
    layers = int(rng.integers(2, 6))
    mesh, x = folded_stack(layers, gap=10 ** rng.uniform(-4, -3.3), wave=10 ** rng.uniform(-4, -2.8))
    x = x + 5e-6 * rng.uniform(-1, 1, x.shape)
    thickness, dhat = float(rng.choice([0, 3e-5, 6e-5])), 10 ** rng.uniform(-4.5, -3.5)
    for _ in range(6):
        surface = make_surface(
            mesh.face_nodes, mesh.node_rest, part_thickness=thickness, dhat=dhat, face_area=mesh.face_area
        )
        guard = Guard(surface, NOTHING)
        low = 10 ** rng.uniform(-3, -2.3)
        sizing = random_sizing(mesh.vertex_count, rng, low, low * 10 ** rng.uniform(0.2, 1.2), 0.3)
        result = remesh(mesh, sizing, x=x, y=1.1 * x, guard=guard, options=LOOSE)
        mesh, x = result.mesh, result.x
        assert result.statistics.fallback == ""
        assert not oracle(mesh, x)
        assert aspects(mesh).min() > 0.005
        assert lowest_gap(guard.follow(mesh), x) > 0.01


def test_the_guard_is_needed() -> None:
    mesh, x = folded_stack()
    guard = Guard(surface_of(mesh, 5e-5), NOTHING)
    sizing = isotropic_sizing(mesh, 0.03)
    careless = remesh(mesh, sizing, x=x, options=LOOSE)
    careful = remesh(mesh, sizing, x=x, guard=guard, options=LOOSE)
    assert has_intersections(guard.follow(careless.mesh), careless.x)
    assert not has_intersections(guard.follow(careful.mesh), careful.x)
    assert careful.statistics.refused > 0
    assert careful.mesh.face_count < 0.7 * mesh.face_count


def test_a_sheet_around_a_ball_does_not_cut_through_it() -> None:
    mesh, x = cs.rectangle(1.0, 1.0, kind="alternating", divisions=(24, 24))
    points, faces = cs.sphere(0.3, 3)
    distance = np.hypot(x[:, 0] - 0.5, x[:, 1] - 0.5)
    x = x - [0.5, 0.5, 0.0]
    x[:, 2] = np.sqrt(np.maximum(0.33**2 - distance**2, 0.0))
    count = mesh.node_count
    surface = make_surface(
        mesh.face_nodes,
        np.concatenate([mesh.node_rest, points]),
        dynamic_count=count,
        obstacle_faces=faces + count,
        part_thickness=np.array([1e-3, 5e-3]),
        dhat=5e-3,
        face_area=mesh.face_area,
    )
    guard = Guard(surface, points)
    assert not guard.has_intersections(mesh, x)
    sizing = isotropic_sizing(mesh, 0.6)
    assert guard.has_intersections(*[getattr(remesh(mesh, sizing, x=x), name) for name in ("mesh", "x")])
    result = remesh(mesh, sizing, x=x, guard=guard)
    assert result.statistics.collapses > 100
    assert not guard.has_intersections(result.mesh, result.x)
    after = guard.follow(result.mesh)
    assert lowest_gap(after, np.concatenate([result.x, points])) > 0.0


def test_two_sheets_with_waves_into_each_other() -> None:
    one, x = cs.rectangle(1.0, 1.0, kind="alternating", divisions=(20, 20))
    mesh, start = cm.concatenate([one, one])
    x = np.concatenate([x, x])
    x[:, 2] = 0.05 * np.sin(2 * np.pi * x[:, 0]) * np.sin(2 * np.pi * x[:, 1])
    x[start[1] :, 2] += 0.01
    surface = make_surface(mesh.face_nodes, mesh.node_rest, node_part=mesh.node_sheet, part_thickness=2e-3, dhat=5e-3)
    guard = Guard(surface, NOTHING)
    rng = np.random.default_rng(2)
    sizing = 0.2 * random_sizing(mesh.vertex_count, rng, 0.05, 1.0)
    options = RemeshOptions(strain_limit=math.inf)  # only the guard stands between the sheets
    careless = remesh(mesh, sizing, x=x, options=options)
    result = remesh(mesh, sizing, x=x, guard=guard, options=options)
    assert guard.has_intersections(careless.mesh, careless.x)
    assert not guard.has_intersections(result.mesh, result.x)
    assert not oracle(result.mesh, result.x)


def test_intersections_before_leave_the_mesh_alone() -> None:
    one, x = cs.rectangle(1.0, 1.0, kind="right", divisions=(8, 8))
    mesh, _ = cm.concatenate([one, one])
    x = np.concatenate([x, x[:, [2, 1, 0]] + [0.53, 0.01, -0.47]])  # one across the other
    guard = Guard(surface_of(mesh, 0.0), NOTHING)
    assert guard.has_intersections(mesh, x)
    result = remesh(mesh, isotropic_sizing(mesh, 0.1), x=x, guard=guard)
    assert result.statistics.fallback == "unchanged"
    assert result.mesh is mesh


def test_only_what_has_some_nodes_is_looked_at() -> None:
    """The nodes along the line where two sheets cross find the crossing, all others do not."""
    one, x = cs.rectangle(1.0, 1.0, kind="right", divisions=(8, 8))
    mesh, _ = cm.concatenate([one, one])
    x = np.concatenate([x, x[:, [2, 1, 0]] + [0.53, 0.01, -0.47]])
    guard = Guard(surface_of(mesh, 0.0), NOTHING)
    near = (np.abs(x[:, 0] - 0.53) < 0.2) & (np.abs(x[:, 2]) < 0.2)
    assert guard.has_intersections(mesh, x, near)
    assert not guard.has_intersections(mesh, x, ~near)
    assert not guard.has_intersections(mesh, x, np.zeros_like(near))


def test_the_least_gap_is_that_between_two_layers() -> None:
    one, x = cs.rectangle(0.1, 0.1, kind="right", divisions=(3, 3))
    mesh, _ = cm.concatenate([one, one])
    x = np.concatenate([x, x + np.array([0.0, 0.0, 1.3e-4])])
    thick, thin = (
        make_surface(mesh.face_nodes, x, node_part=mesh.node_sheet, part_thickness=thickness, dhat=1e-4)
        for thickness in (1e-4, 1e-5)
    )
    assert lowest_gap(thick, x) == pytest.approx(0.3, rel=1e-9)
    assert lowest_gap(thin, x) == 1.0
    assert Guard(thick, NOTHING, least_gap=0.2).lowest(x) == 0.2


def test_splits_only_move_nothing() -> None:
    mesh, x = folded_stack(layers=2)
    guard = Guard(surface_of(mesh, 0.0), NOTHING)
    options = RemeshOptions(collapse=False, smooth=False)
    result = remesh(mesh, isotropic_sizing(mesh, 1.5e-3), x=x, guard=guard, options=options)
    assert result.statistics.splits > 100
    np.testing.assert_allclose(result.node_operator @ x, result.x, atol=1e-16)


def test_obstacle_positions_must_fit() -> None:
    mesh, _ = folded_stack(layers=2)
    with pytest.raises(InputError, match="obstacle_x"):
        Guard(surface_of(mesh, 0.0), np.zeros((3, 3)))
