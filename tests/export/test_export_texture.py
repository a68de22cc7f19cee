"""The picture lies on the pattern, whatever the mesh is."""

from __future__ import annotations

import numpy as np
import pytest
from export_samples import HEIGHT, WIDTH, changing_state, one_sheet

from crumple.export import choose_frames, pattern_boxes, texture_coordinates
from crumple.mesh.generate import disk


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
