"""The picture lies on the pattern, whatever the mesh is."""

from __future__ import annotations

import numpy as np
import pytest
from export_samples import HEIGHT, WIDTH, changing_state, one_sheet

from crumple.export.clip import choose_frames
from crumple.export.surface import surface_of
from crumple.mesh.combine import concatenate
from crumple.mesh.texture import pattern_boxes, texture_coordinates, vertex_sheets
from crumple.scenes import build
from crumple.shapes.sheets import disk, rectangle


def test_each_sheet_fills_the_picture():
    mesh = changing_state(0).mesh
    texture = texture_coordinates(mesh)
    for sheet in range(4):
        own = texture[one_sheet(mesh, sheet)[0]]
        np.testing.assert_allclose([own.min(axis=0), own.max(axis=0)], [[0, 0], [1, 1]], atol=1e-12)
    page = one_sheet(mesh, 0)[0]
    np.testing.assert_allclose(texture[page] * [WIDTH, HEIGHT], mesh.u[page], atol=1e-12)


def test_the_picture_stays_while_a_round_outline_changes():
    """The box of a disk depends on its vertices; all frames take that of the first."""
    coarse, fine = disk(0.08, 0.08)[0], disk(0.08, 0.011)[0]
    boxes = pattern_boxes(fine)
    assert np.abs(boxes - pattern_boxes(coarse)).max() > 1e-3
    texture = texture_coordinates(coarse, boxes)
    np.testing.assert_allclose(boxes[0, 0] + texture * (boxes[0, 1] - boxes[0, 0]), coarse.u, atol=1e-12)


def test_frames_of_a_recording_share_the_boxes_of_its_first(changing):
    first = pattern_boxes(changing.load(0).mesh)
    clip = choose_frames(changing, "2:")
    np.testing.assert_array_equal(clip.boxes, first)
    for snapshot in clip:
        sheet, mesh = np.zeros(snapshot.surface.mesh.vertex_count, int), snapshot.surface.mesh
        sheet[mesh.faces.ravel()] = np.repeat(mesh.face_sheet, 3)
        low, high = first[sheet, 0], first[sheet, 1]
        np.testing.assert_allclose(low + snapshot.surface.texture * (high - low), mesh.u, atol=1e-12)


def test_a_sheet_without_width_has_finite_coordinates():
    mesh = disk(0.08, 0.04)[0]
    boxes = pattern_boxes(mesh)
    boxes[:, 1, 0] = boxes[:, 0, 0]
    assert np.isfinite(texture_coordinates(mesh, boxes)).all()
    assert pattern_boxes(mesh).shape == (1, 2, 2)
    assert texture_coordinates(mesh)[:, 0].mean() == pytest.approx(0.5, abs=0.01)


def test_texture_coordinates_of_a_file_replace_the_pattern_of_its_sheet_only():
    mesh, _ = concatenate([rectangle(0.2, 0.1, 0.05)[0], rectangle(0.1, 0.1, 0.05)[0]])
    sheet = vertex_sheets(mesh)
    given = np.where(sheet[:, None] == 1, 0.3 + mesh.u, 0.0)
    texture = texture_coordinates(mesh, given=given)
    np.testing.assert_array_equal(texture[sheet == 1], given[sheet == 1])
    np.testing.assert_array_equal(texture[sheet == 0], texture_coordinates(mesh)[sheet == 0])


def test_an_obj_file_brings_its_texture_coordinates(tmp_path):
    """Those of a picture on a sheet of 20 cm × 10 cm, turned upside down; the pattern is fitted to them."""
    mesh, x = rectangle(0.2, 0.1, 0.05)
    wanted = 1.0 - texture_coordinates(mesh)
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()] + [f"vt {a!r} {b!r}" for a, b in wanted.tolist()]
    lines += ["f " + " ".join(f"{k}/{k}" for k in face) for face in (mesh.faces + 1).tolist()]
    (tmp_path / "sheet.obj").write_text("\n".join(lines))
    (tmp_path / "scene.toml").write_text(
        '[[sheets]]\nshape = { kind = "file", mesh = "sheet.obj" }\nmaterial = "paper80"\n'
    )
    _, state, _ = build(tmp_path / "scene.toml")
    place = {tuple(np.round(point, 9)): uv for point, uv in zip(x, wanted, strict=True)}
    expected = np.array([place[tuple(np.round(p, 9))] for p in state.x[state.mesh.vertex_node]])
    np.testing.assert_allclose(state.texture, expected, atol=1e-12)
    np.testing.assert_array_equal(surface_of(state).texture, state.texture)
