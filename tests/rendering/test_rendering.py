"""Pictures show the sheet, colours follow fields, films have all frames."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording_samples import make_recording, sample_model, sample_state

from crumple.errors import InputError
from crumple.recording import Recording
from crumple.rendering import render_film, render_frame
from crumple.rendering.camera import DIRECTIONS, VIEW_ANGLE, fit_camera
from crumple.rendering.fields import FIELDS, color_field
from crumple.rendering.ground import DARKNESS, PIXELS, shadow_image
from crumple.rendering.stage import signed_volume

SMALL = (160, 120)


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Recording:
    return Recording(make_recording(tmp_path_factory.mktemp("render") / "run", 4))


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 1000),
    aspect=st.floats(0.4, 3.0),
    view=st.sampled_from(list(DIRECTIONS)),
    legend=st.sampled_from([0.0, 0.14]),
)
def test_camera_sees_every_point_and_no_more_than_needed(seed, aspect, view, legend):
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, (40, 3)) * random.uniform(0.3, 1.0, 3) * 10 ** random.uniform(-3, 2)
    points += random.normal(size=3)
    camera = fit_camera(points, aspect, view, legend)
    backward = camera.position - camera.target
    backward /= np.linalg.norm(backward)
    right = np.cross(camera.up, backward)
    depth = (camera.position - points) @ backward
    across = (points - camera.position) @ np.stack([right, camera.up], axis=1) / depth[:, None]
    limit = np.tan(np.radians(VIEW_ANGLE / 2)) * np.array([aspect, 1.0])
    filled = across / limit
    assert (depth > 0).all()
    assert filled.min() >= -1.001
    assert filled[:, 0].max() <= 1.001 - 2 * legend
    assert filled[:, 1].max() <= 1.001
    assert max(np.ptp(filled[:, 0]) / (2 - 2 * legend), np.ptp(filled[:, 1]) / 2) > 0.75


def test_unknown_names_list_the_known_ones():
    with pytest.raises(InputError, match="auto, front"):
        fit_camera(np.eye(3), 1.0, "sideways")
    with pytest.raises(InputError, match=r"damage, plastic_curvature.*material, sizing"):
        color_field("colour")


@pytest.mark.parametrize("name", FIELDS)
def test_fields_have_a_finite_value_per_element(name):
    state, field = sample_state(), FIELDS[name]
    values = field.values(state)
    assert values.shape == (state.mesh.face_count if field.on == "cells" else state.mesh.node_count,)
    assert np.isfinite(values).all()


def test_shadow_lies_below_the_sheet():
    points = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.2, 0.0]])
    shade = shadow_image(points, np.array([[0, 1, 2]]), 0.0, np.zeros(2), 1.0)
    middle = PIXELS // 2
    assert shade[middle + 20, middle + 20] > 0.8 * DARKNESS  # x, y > 0: rows and columns beyond the middle
    assert shade[middle - 40, middle - 40] < 0.02
    assert shade[middle + 20, middle + 70] < 0.02
    lifted = shadow_image(points + np.array([0, 0, 0.3]), np.array([[0, 1, 2]]), 0.0, np.zeros(2), 1.0)
    assert lifted.max() < 0.2 * shade.max()


def test_signed_volume_tells_inside_from_outside():
    block = sample_model().obstacles[0]
    points = block.positions(0.0)
    assert signed_volume(points, block.faces) == pytest.approx(0.1**3 / 6)
    assert signed_volume(points, block.faces[:, ::-1]) == pytest.approx(-(0.1**3) / 6)
    assert signed_volume(points, block.faces[:3]) == 0.0


def test_picture_shows_a_bright_sheet_on_a_background(recording, tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("pyvista")
    path = render_frame(recording, -1, tmp_path / "sheet.png", size=SMALL)
    image = imageio.imread(path)[..., :3].astype(float)
    assert image.shape == (SMALL[1], SMALL[0], 3)
    corner, middle = image[2, 2], image[40:80, 60:100].reshape(-1, 3)
    assert np.abs(middle - corner).max() > 20
    coloured = imageio.imread(
        render_frame(recording, -1, tmp_path / "damage.png", size=SMALL, color_by="damage", edges=True)
    )[..., :3]
    saturation = np.ptp(coloured.astype(float), axis=2)
    assert np.count_nonzero(saturation > 120) > 100  # red and yellow faces
    assert np.count_nonzero(np.ptp(image, axis=2) > 120) == 0


def test_film_has_every_frame(recording, tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    pytest.importorskip("pyvista")
    calls: list[tuple[int, int]] = []
    path = render_film(recording, tmp_path / "film.mp4", size=SMALL, progress=lambda *done: calls.append(done))
    assert calls == [(k, 4) for k in range(1, 5)]
    with imageio.get_reader(path) as film:
        assert film.count_frames() == 4
        assert film.get_meta_data()["fps"] == pytest.approx(25.0)
        assert film.get_meta_data()["size"] == SMALL
        pictures = [picture.astype(float) for picture in film.iter_data()]
    for before, after in pairwise(pictures):  # the sheet has moved: the film must not show the first frame again
        assert np.abs(after - before).max() > 16.0


def test_missing_packages_say_what_to_install(recording, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(InputError, match=r"pip install 'crumple\[render\]'"):
        render_frame(recording, -1, tmp_path / "sheet.png")
