"""Remeshing inside a simulation: what it keeps, what it must not do, and what the projection is for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulation_samples import PAPER, SIDE, falling_sheet, free_sheet

from crumple.boundary import Handle, Key, make_motion
from crumple.contact.intersection import has_intersections
from crumple.energies.inertia import node_masses
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.remeshing import RemeshingOptions, RemeshOptions
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.remeshing import isotropic_sizing, remesh
from crumple.remeshing.adaptation import CALM_FACES, is_fine_enough
from crumple.remeshing.projection import accelerations, project
from crumple.shapes import rectangle
from crumple.simulation.frame import adapt, advance_frame
from crumple.state import Pins, State, initial_state, transfer


def adapted(model: Model, state: State, *, projection: bool = True, **sizing: float) -> State:
    options = RemeshingOptions(SizingOptions(**sizing), projection=projection)  # type: ignore[arg-type]
    return adapt(state, Derived(replace(model, remeshing=options), state))


def relaxed(model: Model, state: State) -> State:
    """The state with its directors in equilibrium, as after a remeshing."""
    return Derived(model, state).relaxed(state)


def intersects(model: Model, state: State) -> bool:
    surface = Derived(model, state).surface(state.time)
    assert surface is not None
    return bool(has_intersections(surface, np.concatenate([state.x, state.obstacle_x])))


@pytest.mark.parametrize(("fine", "coarse"), [(4e-3, 8e-3), (0.03, 0.05)])
def test_mass_and_momentum_are_kept(fine: float, coarse: float) -> None:
    model, state = free_sheet(0.015)
    state, _ = advance_frame(model, state)
    after = adapted(model, state, size_min=fine, size_max=coarse)
    assert after.mesh.face_count != state.mesh.face_count
    masses = [node_masses(s.mesh, model.materials) for s in (state, after)]
    assert masses[1].sum() == pytest.approx(masses[0].sum(), rel=1e-12)
    momentum = [mass @ s.v for mass, s in zip(masses, (state, after), strict=True)]
    np.testing.assert_allclose(momentum[1], momentum[0], rtol=0, atol=1e-12 * masses[0].sum() * np.abs(state.v).max())


def test_nothing_happens_to_a_mesh_that_is_right() -> None:
    model, state = free_sheet()
    bounds = {"size_min": 0.02, "size_max": 0.04, "refine_angle": 1.0, "refine_velocity": 100.0}
    once = adapted(model, state, **bounds)
    again = adapted(model, once, **bounds)
    assert again.mesh is once.mesh
    np.testing.assert_array_equal(again.x, once.x)


def folded_sheet(gap: float) -> tuple[Model, State]:
    """A sheet folded over flat on itself, its halves `gap` [m] apart."""
    mesh, flat = rectangle(SIDE, 0.6 * SIDE, 0.012, kind="delaunay")
    radius = 0.5 * gap
    s = flat[:, 0] - 0.5 * SIDE
    angle = np.clip(s / radius, -0.5 * np.pi, 0.5 * np.pi)
    straight = s - radius * angle
    x = np.stack([radius * np.cos(angle) - np.abs(straight), flat[:, 1], radius * np.sin(angle)], axis=1)
    model = Model((PAPER,), contact=ContactOptions(sheet_thickness=(1e-4,), activation=5e-4), gravity=(0.0, 0.0, 0.0))
    return model, initial_state(mesh, x)


@pytest.mark.parametrize("size", [2.5e-3, 0.03])
@pytest.mark.parametrize("projection", [False, True])
def test_no_intersections_between_layers(size: float, projection: bool) -> None:
    model, state = folded_sheet(3e-4)
    assert not intersects(model, state)
    after = adapted(model, state, projection=projection, size_min=size, size_max=2.0 * size)
    assert after.mesh.face_count != state.mesh.face_count
    assert not intersects(model, after)


def test_no_intersections_on_an_obstacle() -> None:
    model, state = falling_sheet()
    model = replace(model, remeshing=RemeshingOptions(SizingOptions(size_min=4e-3, size_max=0.03)))
    for _ in range(5):
        state, report = advance_frame(model, state)
        assert not intersects(model, state)
    assert report.contacts_max > 0


def test_edges_pointing_at_an_obstacle_are_refined() -> None:
    model, state = falling_sheet()
    state = state.replaced(x=np.ascontiguousarray(state.x[:, [2, 1, 0]] + [-0.035, 0.0, 0.079]))
    bounds = {"projection": False, "size_min": 2e-3, "size_max": 0.03}
    with_it = adapted(model, state, **bounds)
    without = adapted(model, state, **bounds, refine_obstacle=False)
    assert with_it.mesh.face_count > 1.1 * without.mesh.face_count


def pushed_square() -> tuple[Model, State]:
    """A square of stiff paper whose clamped opposite sides are pushed together, until it buckles."""
    mesh, x = rectangle(SIDE, SIDE, 0.02, kind="delaunay")
    x = x + np.stack([0.0 * x[:, 0], 0.0 * x[:, 0], 1e-4 * np.sin(np.pi * x[:, 0] / SIDE)], axis=1)
    sides = [np.flatnonzero(x[:, 0] < 1e-9), np.flatnonzero(x[:, 0] > SIDE - 1e-9)]
    node = np.concatenate(sides).astype(np.int32)
    handle = np.repeat([0, 1], [len(side) for side in sides]).astype(np.int32)
    keys = [[Key(0.0), Key(0.4, translate=(way, 0.0, 0.0))] for way in (0.02, -0.02)]
    handles = tuple(Handle(name, motion=make_motion(name, keys=k)) for name, k in zip("ab", keys, strict=True))
    model = Model((PAPER,), handles=handles, contact=ContactOptions(sheet_thickness=(1e-4,)))
    return model, initial_state(mesh, x, pins=Pins(node, handle, x[node].copy()))


def peak_acceleration(model: Model, state: State) -> float:
    a, _ = accelerations(state, Derived(model, state))
    a[state.pins.node] = 0.0
    return float(np.linalg.norm(a, axis=1).max())


def test_projection_keeps_accelerations() -> None:
    model, state = pushed_square()
    bounds = {"size_min": 4e-3, "size_max": 0.03}
    changes, ratios, jitters = 0, [], []
    for _ in range(8):
        state, _ = advance_frame(model, state)
        after = adapted(model, state, **bounds)
        if after.mesh is not state.mesh:
            changes += 1
            before = peak_acceleration(model, state)
            ratios.append(peak_acceleration(model, after) / before)
            jitters.append(peak_acceleration(model, adapted(model, state, projection=False, **bounds)) / before)
        state = after
    assert changes >= 5
    assert max(ratios) <= 1.5
    assert np.median(jitters) > 20.0


@pytest.mark.parametrize(("element", "long"), [("hinge", 8.0), ("midedge", 3.0)])
def test_elements_are_long_along_a_sharp_fold(element: str, long: float) -> None:
    """Curvature by hinges is about the edges alone, so faces get as long as they may, which is 10. The mid-edge element
    sees some curvature along the fold, too, where the fold begins and ends within a face."""
    radius, turn = 3e-3, 2.0
    mesh, flat = rectangle(SIDE, SIDE, 0.02, kind="delaunay")
    model = Model((PAPER,), contact=ContactOptions(enabled=False), solver=SolverOptions(bending=element))

    def fold(u: np.ndarray) -> np.ndarray:
        s = u[:, 0] - 0.5 * SIDE
        angle = np.clip(s / radius, -0.5 * turn, 0.5 * turn)
        rest = s - radius * angle
        across = radius * np.sin(angle) + rest * np.cos(0.5 * turn)
        up = radius * np.cos(angle) - np.abs(rest) * np.sin(0.5 * turn)
        return np.stack([across, u[:, 1], up], axis=1)

    state = initial_state(mesh, fold(flat))
    for _ in range(6):
        state = state.replaced(x=fold(state.mesh.node_rest))
        state = relaxed(model, state)
        state = adapted(
            model, state, projection=False, size_min=1e-3, size_max=0.02, aspect_min=0.1, refine_compression=np.inf
        )
    corner = state.mesh.u[state.mesh.faces]
    crease = np.abs(corner[:, :, 0].mean(axis=1) - 0.5 * SIDE) < radius
    extent = np.ptp(corner, axis=1)
    aspect = extent[:, 1] / extent[:, 0]
    far = np.abs(corner[:, :, 0].mean(axis=1) - 0.5 * SIDE) > 0.025
    assert np.median(aspect[crease]) >= long
    assert state.mesh.face_area[far].mean() > 5.0 * state.mesh.face_area[crease].mean()


def test_projection_leaves_what_is_far_from_a_change_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A buckled sheet with one edge split: nodes around it move, the others do not, and accelerations come back.

    Nodes that stay feel what the others had to move: a thousandth of the jitter, though more than a calm sheet shows.
    """
    model, state = pushed_square()
    for _ in range(6):
        state, _ = advance_frame(model, state)
        state = adapted(model, state, size_min=4e-3, size_max=0.01)
    field = np.tile([1e4, 1e4, 0.0], (state.mesh.vertex_count, 1))
    centre = np.argmin(np.linalg.norm(state.mesh.u - 0.5 * SIDE, axis=1))
    field[centre, :2] = 3e5
    before, _ = accelerations(state, Derived(model, state))
    options = RemeshOptions(collapse=False, split_limit=1.3, flip_hysteresis=10.0)
    result = remesh(state.mesh, field, x=state.x, v=state.v, y=state.y, node_fields={"a": before}, options=options)
    changed = result.changed_nodes
    assert 3 <= np.count_nonzero(changed) < 0.3 * len(changed)
    fresh = transfer(state, result)
    fresh = relaxed(model, fresh)
    monkeypatch.setattr("crumple.remeshing.projection.SMALL", 0)
    after = project(fresh, Derived(model, fresh), result.node_fields["a"], changed)
    moved = np.any(after.x != fresh.x, axis=1)
    assert moved[changed].any()
    assert np.mean(moved) < 0.7
    assert peak_acceleration(model, fresh) > 5.0 * peak_acceleration(model, state)
    left, _ = accelerations(after, Derived(model, after))
    assert np.linalg.norm(left[moved], axis=1).max() < 1.5 * peak_acceleration(model, state)
    assert peak_acceleration(model, after) < 3e-3 * peak_acceleration(model, fresh)


def test_a_run_says_when_the_limit_on_faces_is_met() -> None:
    model, state = free_sheet(0.03)
    sizing = SizingOptions(size_min=1e-4, size_max=1e-3)
    limited = replace(model, remeshing=RemeshingOptions(sizing, projection=False, max_faces=200), frame_time=1e-3)
    after, report = advance_frame(limited, state)
    assert after.mesh.face_count <= 200 < 4 * SIDE**2 / sizing.size_max**2
    assert [warning for warning in report.warnings if "remeshing.max_faces = 200" in warning]
    calm = replace(model, remeshing=RemeshingOptions(SizingOptions(size_min=0.03, size_max=0.03)), frame_time=1e-3)
    assert advance_frame(calm, state)[1].warnings == ()


def test_a_large_mesh_that_is_fine_enough_rests_but_for_every_fourth_frame() -> None:
    model, state = free_sheet(3e-3)
    assert state.mesh.face_count >= CALM_FACES
    bounds = {"size_min": 3e-3, "size_max": 6e-3, "refine_angle": 1.0, "refine_velocity": 100.0}
    coarser = [adapted(model, state.replaced(frame=frame), **bounds).mesh for frame in (1, 2, 3, 4)]
    assert [mesh is state.mesh for mesh in coarser] == [True, True, True, False]
    assert coarser[3].face_count < state.mesh.face_count
    needed = {**bounds, "size_min": 2e-3, "size_max": 2e-3}
    assert adapted(model, state.replaced(frame=1), **needed).mesh.face_count > 1.5 * state.mesh.face_count


def test_few_edges_that_are_a_little_too_long_can_wait() -> None:
    mesh, _ = rectangle(SIDE, SIDE, 3e-3, kind="delaunay")
    sizing = isotropic_sizing(mesh, 5e-3)
    assert is_fine_enough(mesh, sizing)
    few = sizing.copy()
    few[: mesh.vertex_count // 1000] *= 2.5
    assert is_fine_enough(mesh, few)
    assert not is_fine_enough(mesh, 4.0 * sizing), "many of them"
    single = sizing.copy()
    single[0] *= 20.0
    assert not is_fine_enough(mesh, single), "one of them, by much"
    small, _ = rectangle(SIDE, SIDE, 0.02, kind="delaunay")
    assert not is_fine_enough(small, isotropic_sizing(small, 0.1)), "a small mesh costs nothing"
