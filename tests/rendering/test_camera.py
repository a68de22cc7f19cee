"""Cameras see what they should, and do not jump."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.rendering.camera import DIRECTIONS, VIEW_ANGLE, Camera, CameraPlan, View, fit_camera
from crumple.runtime.errors import InputError


def filled(camera: Camera, points: np.ndarray, aspect: float) -> np.ndarray:
    """Where points are in the picture, −1 … 1 each way, (n, 2); all must be before the camera."""
    backward = camera.position - camera.target
    backward /= np.linalg.norm(backward)
    right = np.cross(camera.up, backward)
    depth = (camera.position - points) @ backward
    assert (depth > 0).all()
    across = (points - camera.position) @ np.stack([right, camera.up], axis=1) / depth[:, None]
    return across / (np.tan(np.radians(camera.angle / 2)) * np.array([aspect, 1.0]))


def cloud(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, (40, 3)) * random.uniform(0.3, 1.0, 3) * 10 ** random.uniform(-3, 2)
    return points + random.normal(size=3)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 1000),
    aspect=st.floats(0.4, 3.0),
    view=st.sampled_from(list(DIRECTIONS)),
    legend=st.sampled_from([0.0, 0.14]),
)
def test_camera_sees_every_point_and_no_more_than_needed(seed, aspect, view, legend):
    points = cloud(seed)
    seen = filled(fit_camera(points, aspect, view, legend), points, aspect)
    assert seen.min() >= -1.001
    assert seen[:, 0].max() <= 1.001 - 2 * legend
    assert seen[:, 1].max() <= 1.001
    assert max(np.ptp(seen[:, 0]) / (2 - 2 * legend), np.ptp(seen[:, 1]) / 2) > 0.75


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1000), share=st.floats(0.0, 1.0), orbit=st.sampled_from([360.0, -90.0]))
def test_a_camera_that_goes_around_sees_everything_on_its_way(seed, share, orbit):
    points = cloud(seed)
    plan = CameraPlan([points], 1.5, View(orbit=orbit))
    assert np.abs(filled(plan.at(share), points, 1.5)).max() <= 1.02
    distances = [np.linalg.norm(plan.at(s).position - plan.at(s).target) for s in (0.0, 0.3, 1.0)]
    np.testing.assert_allclose(distances, distances[0])
    turned = [np.arctan2(*(plan.at(s).position - plan.at(s).target)[1::-1]) for s in (0.0, 0.25)]
    assert np.cos(turned[1] - turned[0] - np.radians(0.25 * orbit)) == pytest.approx(1.0)


def test_a_camera_that_follows_keeps_the_sheet_in_the_picture_and_one_that_does_not_stands_still():
    sheet = cloud(3) - cloud(3).mean(axis=0)
    size = np.linalg.norm(np.ptp(sheet, axis=0))
    film = [sheet + np.array([0.2 * k * size, 0.0, 0.0]) for k in range(30)]
    plan = CameraPlan(film, 1.3, View(follow=True))
    for k, points in enumerate(film):
        assert np.abs(filled(plan.at(k / 29), points, 1.3)).max() <= 1.02
    still = CameraPlan(film, 1.3, View(follow=False))
    np.testing.assert_array_equal(still.at(0.0).position, still.at(1.0).position)
    for points in film:
        assert np.abs(filled(still.at(0.5), points, 1.3)).max() <= 1.001
    near, far = (np.linalg.norm(p.at(0.0).position - p.at(0.0).target) for p in (plan, still))
    assert near < 0.7 * far


def test_position_target_zoom_and_lens():
    points = cloud(5)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    away = tuple(middle + 5 * np.ptp(points, axis=0).max() * np.array([1.0, 1.0, 0.5]))
    camera = CameraPlan([points], 1.0, View(position=away)).at(0.0)
    np.testing.assert_allclose(camera.position, away)
    np.testing.assert_allclose(camera.target, middle)
    assert 0.7 < np.abs(filled(camera, points, 1.0)).max() <= 1.001  # it chooses its own lens
    aimed = CameraPlan([points], 1.0, View(target=tuple(points[0]))).at(0.0)
    np.testing.assert_allclose(filled(aimed, points[:1], 1.0), 0.0, atol=1e-9)
    plain, zoomed = (CameraPlan([points], 1.0, View(zoom=zoom)).at(0.0) for zoom in (1.0, 2.0))
    np.testing.assert_allclose(filled(zoomed, points, 1.0), 2.0 * filled(plain, points, 1.0))
    wide = CameraPlan([points], 1.0, View(lens=24.0)).at(0.0)
    assert wide.angle == pytest.approx(2 * np.degrees(np.arctan(0.5)))
    assert np.linalg.norm(wide.position - wide.target) < np.linalg.norm(plain.position - plain.target)
    assert plain.angle == pytest.approx(VIEW_ANGLE)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"direction": "sideways"}, "auto, front"),
        ({"zoom": 0.0}, "--zoom = 0.0"),
        ({"zoom": float("nan")}, "--zoom"),
        ({"lens": 1.0}, "--lens = 1.0"),
        ({"orbit": float("inf")}, "--orbit"),
        ({"position": (0.0, float("nan"), 1.0)}, "--camera"),
    ],
)
def test_nonsense_is_refused(options, text):
    with pytest.raises(InputError, match=text):
        View(**options)


def test_a_camera_at_its_target_is_refused():
    with pytest.raises(InputError, match="move it or --target"):
        CameraPlan([np.eye(3)], 1.0, View(position=(1.0, 2.0, 3.0), target=(1.0, 2.0, 3.0)))


def test_sheets_that_go_far_are_followed_unless_it_is_forbidden():
    square = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.1, 0.0]])
    near, far = ([square + np.array([way * k / 9, 0.0, 0.0]) for k in range(10)] for way in (0.1, 2.0))
    assert CameraPlan(near, 1.3, View()).view.follow is False
    followed, still = CameraPlan(far, 1.3, View()), CameraPlan(far, 1.3, View(follow=False))
    distance = [float(np.linalg.norm(plan.at(0.5).position - plan.at(0.5).target)) for plan in (followed, still)]
    assert distance[0] < 0.5 * distance[1], "the sheet is larger in the picture"
    assert followed.at(1.0).target[0] > followed.at(0.0).target[0] + 1.0
    assert CameraPlan(far, 1.3, View(target=(0.0, 0.0, 0.0))).view.follow is False
