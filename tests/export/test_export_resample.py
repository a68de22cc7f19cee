"""Positions of any frame on one mesh: exact where they are linear, converging where not, never across a seam or cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from export_samples import FRAMES, changing_state, lift

from crumple.export import Resampler
from crumple.export.clip import choose_frames
from crumple.export.resample import match_charts
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.shapes.sheets import disk, rectangle

MATRIX = np.array([[1.0, 0.2, 0.3], [-0.1, 0.9, 2.0]])


def delaunay(size: float, seed: int) -> SheetMesh:
    return rectangle(0.2, 0.3, size, kind="delaunay", seed=seed)[0]


def at_nodes(mesh: SheetMesh, values: np.ndarray) -> np.ndarray:
    """Values per vertex at the nodes of a mesh without seams."""
    result = np.empty((mesh.node_count, values.shape[1]))
    result[mesh.vertex_node] = values
    return result


@pytest.mark.parametrize("shape", ["rectangle", "disk"])
def test_linear_maps_are_exact_up_to_the_outline(shape):
    """On a disk the outlines differ, and the nearest face is continued."""
    coarse, fine = (delaunay(0.05, 1), delaunay(0.013, 2)) if shape == "rectangle" else (
        disk(0.1, 0.04)[0], disk(0.1, 0.011)[0]
    )  # fmt: skip
    for old, new in ((coarse, fine), (fine, coarse)):
        (x,) = Resampler(new).nodes(old, at_nodes(old, old.u @ MATRIX))
        np.testing.assert_allclose(x, at_nodes(new, new.u @ MATRIX), atol=1e-13)


def test_curved_sheets_converge_with_the_square_of_the_edge_length():
    target = delaunay(0.02, 5)
    exact, errors = lift(target.u, 1.0), []
    for size in (0.04, 0.02, 0.01):
        mesh = delaunay(size, 7)
        (height,) = Resampler(target).nodes(mesh, at_nodes(mesh, lift(mesh.u, 1.0)[:, None]))
        errors.append(np.abs(at_nodes(target, exact[:, None]) - height).max())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert rates.min() > 1.5, errors


def test_seams_and_sheets_stay_apart():
    """The reference embedding tells where a node is: front and back of the bag, both sides of the tube's seam."""
    target = changing_state(FRAMES - 1).mesh
    for frame in range(FRAMES - 1):
        mesh = changing_state(frame).mesh
        (rest,) = Resampler(target).nodes(mesh, mesh.node_rest)
        tube = target.node_sheet == 2
        assert np.abs(rest - target.node_rest)[~tube].max() < 6e-3  # the bag's depth over an edge next to its seam
        # the facets of a tube of fewer columns are up to this far from those of the other
        assert np.abs(rest - target.node_rest)[tube].max() < 0.04 * 0.2 / np.pi


def test_faces_take_the_data_at_their_middle():
    target, state = changing_state(2).mesh, changing_state(0)
    face = Resampler(target).faces(state.mesh)
    np.testing.assert_array_equal(state.mesh.face_sheet[face], target.face_sheet)
    away = np.linalg.norm(
        state.mesh.u[state.mesh.faces].mean(axis=1)[face] - target.u[target.faces].mean(axis=1), axis=1
    )
    assert away.max() < 0.03


def test_panels_on_top_of_each_other_are_told_apart():
    """Two panels with the same pattern in one sheet, in another order in the other mesh."""

    def doubled(size: float, heights: tuple[float, float]) -> SheetMesh:
        panel = delaunay(size, 3)
        u, n = panel.u, panel.vertex_count
        rest = np.concatenate([np.column_stack([u, np.full(n, height)]) for height in heights])
        return make_sheet_mesh(np.tile(u, (2, 1)), np.concatenate([panel.faces, panel.faces + n]), node_rest=rest)

    target, mesh = doubled(0.03, (0.0, 1.0)), doubled(0.05, (1.0, 0.0))
    charts = match_charts(target, mesh)
    assert charts is not None
    (rest,) = Resampler(target).nodes(mesh, mesh.node_rest)
    np.testing.assert_allclose(rest, target.node_rest, atol=1e-12)


def test_the_sides_of_a_cut_stay_apart():
    """A strip cut along its middle; the halves are moved away from each other, the mesh of the target has the cut."""

    def cut(divisions: tuple[int, int]) -> SheetMesh:
        mesh, _ = rectangle(0.2, 0.2, divisions=divisions, kind="right")
        middle = np.flatnonzero(np.isclose(mesh.u[:, 0], 0.1) & (mesh.u[:, 1] < 0.15))
        faces, right = mesh.faces.copy(), mesh.u[mesh.faces].mean(axis=1)[:, 0] > 0.1
        renamed = np.arange(mesh.vertex_count)
        renamed[middle] = mesh.vertex_count + np.arange(len(middle))
        faces[right] = renamed[faces[right]]
        return make_sheet_mesh(np.concatenate([mesh.u, mesh.u[middle]]), faces)

    target, mesh = cut((12, 12)), cut((6, 8))
    side = np.zeros((mesh.node_count, 1))
    side[np.unique(mesh.faces[mesh.u[mesh.faces].mean(axis=1)[:, 0] > 0.1])] = 1.0
    (value,) = Resampler(target).nodes(mesh, side)
    on_cut = np.isclose(target.u[:, 0], 0.1) & (target.u[:, 1] < 0.1)
    right = np.zeros(target.node_count, bool)
    right[np.unique(target.faces[target.u[target.faces].mean(axis=1)[:, 0] > 0.1])] = True
    np.testing.assert_allclose(value[on_cut & right], 1.0, atol=1e-12)
    np.testing.assert_allclose(value[on_cut & ~right], 0.0, atol=1e-12)


def test_a_sheet_torn_in_two_is_still_resampled():
    """Pieces that have no counterpart are looked up in the sheet."""
    whole = delaunay(0.03, 1)
    left = whole.u[whole.faces].mean(axis=1)[:, 0] < 0.1
    loose = np.arange(3 * whole.face_count).reshape(-1, 3)[left]
    torn = make_sheet_mesh(
        np.concatenate([whole.u[whole.faces[left]].reshape(-1, 2), whole.u]),
        np.concatenate([np.arange(loose.size).reshape(-1, 3), whole.faces[~left] + loose.size]),
    )
    assert match_charts(torn, whole) is None
    (x,) = Resampler(torn).nodes(whole, at_nodes(whole, whole.u @ MATRIX))
    np.testing.assert_allclose(x, torn.u @ MATRIX, atol=1e-12)
    other_sheet = replace(whole, face_sheet=np.ones_like(whole.face_sheet))
    assert match_charts(make_sheet_mesh(whole.u, whole.faces), other_sheet) is None


def test_the_finest_frame_keeps_its_positions(changing):
    """Resampling a frame onto its own mesh changes nothing."""
    clip = choose_frames(changing, constant=True)
    assert clip.resampler is not None
    finest = max(changing.frames, key=lambda frame: changing.load(frame).mesh.face_count)
    state, shown = changing.load(finest), clip.snapshot(finest).surface
    np.testing.assert_allclose(shown.x, state.x, atol=1e-12)
    np.testing.assert_allclose(shown.v, state.v, atol=1e-12)
    np.testing.assert_array_equal(shown.face_data["damage"], state.damage)
