"""Pattern, plastic embedding and world of the same sheets."""

import numpy as np
import pytest
from recording_samples import make_recording

from crumple.mesh import concatenate
from crumple.recording import Recording
from crumple.rendering import render_frame
from crumple.rendering.spaces import draw_space, named_spaces
from crumple.runtime.errors import InputError
from crumple.shapes import cylinder, rectangle
from crumple.state import initial_state


def two_sheets():
    """A tube with a seam and a rectangle whose patterns lie on top of each other."""
    tube, x = cylinder(0.05, 0.03, 0.01)
    flat, y = rectangle(0.04, 0.03, 0.01)
    mesh, _ = concatenate([tube, flat])
    state = initial_state(mesh, np.concatenate([x, y + np.array([0.0, 0.0, 1.0])]))
    return state.replaced(y=state.y + np.array([0.0, 0.0, 0.5]))


def test_each_space_shows_its_own_points():
    state = two_sheets()
    world, plastic, pattern = (draw_space(state, space) for space in ("world", "plastic", "pattern"))
    assert world.points is state.x
    np.testing.assert_allclose(plastic.points[:, 1:], state.y[:, 1:])
    assert len(pattern.points) == state.mesh.vertex_count > state.mesh.node_count
    np.testing.assert_array_equal(pattern.node, state.mesh.vertex_node)
    area = np.linalg.norm(np.cross(*(pattern.points[pattern.faces[:, k]] - pattern.points[pattern.faces[:, 0]]
                                     for k in (1, 2))), axis=1) / 2  # fmt: skip
    np.testing.assert_allclose(area, state.mesh.face_area)


def test_sheets_do_not_overlap_in_the_pattern():
    state = two_sheets()
    drawn = draw_space(state, "pattern")
    first, second = (drawn.points[np.unique(drawn.faces[state.mesh.face_sheet == sheet]), 0] for sheet in (0, 1))
    assert second.min() > first.max()


def test_unknown_space_lists_the_known_ones():
    assert named_spaces("all") == ("pattern", "plastic", "world")
    with pytest.raises(InputError, match="world, pattern, plastic, all"):
        named_spaces("mars")


def test_three_spaces_side_by_side(tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    recording = Recording(make_recording(tmp_path / "run"))
    path = render_frame(recording, -1, tmp_path / "all.png", size=(302, 100), color_by="damage", space="all")
    picture = imageio.imread(path)
    assert picture.shape[:2] == (100, 302)
    panels = picture[:, :100], picture[:, 100:200], picture[:, 200:300]
    assert all(panel.std() > 5.0 for panel in panels)
    assert np.abs(panels[0].astype(float) - panels[2]).mean() > 1.0
