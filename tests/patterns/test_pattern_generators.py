"""Generated patterns against closed formulas: counts by Euler, flat folding, Miura kinematics, the Kresling tube."""

from __future__ import annotations

import numpy as np
import pytest
from pattern_measures import can_fold_flat, vertex_misfit

from crumple.patterns import (
    CreasePattern,
    box,
    check_pattern,
    fold_facets,
    kresling,
    miura,
    pleats,
    waterbomb,
)
from crumple.runtime.errors import InputError

ALPHA = np.radians(60.0)


def folded_vertices(pattern: CreasePattern) -> tuple[np.ndarray, float]:
    """Vertices (n, 3) of the folded pattern, and by how much facets miss each other."""
    facets = fold_facets(pattern, pattern.targets())
    x = np.zeros((len(pattern.vertices), 3))
    for k, face in enumerate(pattern.faces):
        x[face] = facets.place(pattern.vertices[face], np.full(len(face), k))
    return x, facets.gap


@pytest.mark.parametrize(
    ("pattern", "faces", "creases"),
    [
        (miura(4, 3, 0.02, 0.03, ALPHA), 12, 3 * 3 + 4 * 2),
        (miura(1, 1, 0.02, 0.03, ALPHA), 1, 0),
        (waterbomb(1, 1, 0.04), 6, 6),
        (kresling(6, 0.03, 0.045, np.pi / 4, 3), 36, 5 * 3 + 6 * 3 + 6 * 2),
        (pleats(0.2, 0.1, 7), 8, 7),
        (box(0.1, 0.06, 0.12), 13, 12),
    ],
)
def test_counts(pattern, faces, creases):
    assert len(pattern.faces) == faces
    assert pattern.creases.sum() == creases
    assert len(pattern.vertices) - pattern.edge_count + len(pattern.faces) == 1  # Euler, without the outside
    assert not pattern.facets.dangling.any()
    assert check_pattern(pattern) == []


@pytest.mark.parametrize("pattern", [miura(5, 4, 0.02, 0.015, ALPHA), waterbomb(3, 4, 0.04)])
def test_flat_foldable(pattern):
    flat = can_fold_flat(pattern)
    assert len(flat) > 5
    assert all(flat.values())


@pytest.mark.parametrize("degrees", [10.0, 53.0, 90.0, 150.0])
def test_miura_kinematics(degrees):
    """Cell sizes of the folded Miura-ori [Schenk & Guest 2013], with θ half the fold angle of the zigzags."""
    a, b, theta = 0.02, 0.025, np.radians(0.5 * degrees)
    pattern = miura(4, 4, a, b, ALPHA, 2.0 * theta)
    x, gap = folded_vertices(pattern)
    assert gap < 1e-15
    at = {tuple(np.round(v, 9)): k for k, v in enumerate(pattern.vertices)}

    def node(i: int, j: int) -> np.ndarray:
        place = (i * a + (j % 2) * b * np.cos(ALPHA), j * b * np.sin(ALPHA))
        return x[at[tuple(np.round(place, 9))]]

    along = np.linalg.norm(node(2, 0) - node(0, 0))
    across = np.linalg.norm(node(0, 2) - node(0, 0))
    tan = np.tan(ALPHA)
    assert along == pytest.approx(2 * a * np.sqrt(1 - (np.sin(theta) * np.sin(ALPHA)) ** 2), rel=1e-9)
    assert across == pytest.approx(2 * b * np.cos(theta) * tan / np.sqrt(1 + (np.cos(theta) * tan) ** 2), rel=1e-9)


def test_miura_angles_of_the_specification():
    pattern = miura(4, 4, 0.02, 0.02, ALPHA, np.pi / 2)
    angles = np.unique(np.round(np.degrees(np.abs(pattern.angle[pattern.creases])), 3))
    assert angles.tolist() == [53.13, 90.0]
    assert pattern.group_names == ("straight", "zigzag")


def test_kresling_folds_to_its_tube():
    sides, radius, height, twist = 6, 0.03, 0.045, np.pi / 4
    pattern = kresling(sides, radius, height, twist, 2)
    x, gap = folded_vertices(pattern)
    assert gap < 1e-12
    low = np.isclose(pattern.vertices[:, 1], 0.0)
    ring = x[low][np.argsort(pattern.vertices[low, 0])]
    assert np.linalg.norm(ring[0] - ring[-1]) < 1e-12  # left and right border meet
    corners = ring[:-1]
    assert np.linalg.norm(corners - corners.mean(axis=0), axis=1) == pytest.approx(radius)
    top = x[np.isclose(pattern.vertices[:, 1], pattern.vertices[:, 1].max())]
    assert np.linalg.norm(top.mean(axis=0) - ring.mean(axis=0)) > 0.9 * 2 * height
    fans, misfit = vertex_misfit(pattern, pattern.targets())
    assert len(fans) == sides - 1
    assert misfit.max() < 1e-12


def test_box_closes():
    pattern = box(0.1, 0.06, 0.12)
    x, _ = folded_vertices(pattern)
    corner = {tuple(np.round(v, 6)): x[k] for k, v in enumerate(pattern.vertices)}
    for y in (0.0, 0.12):
        assert np.linalg.norm(corner[0.0, y] - corner[0.32, y]) < 1e-12
    assert set(pattern.group_names) == {"wall", "flap", "dust", "glue"}


def test_pleat_shares():
    x = np.unique(np.round(pleats(0.3, 0.1, 5, share=0.2).vertices[:, 0], 9))
    widths = np.diff(x)
    assert widths[1] / (widths[0] + widths[1]) == pytest.approx(0.2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: miura(0, 2, 0.1, 0.1, ALPHA),
        lambda: miura(2, 2, -0.1, 0.1, ALPHA),
        lambda: miura(2, 2, 0.1, 0.1, 2.0),
        lambda: waterbomb(2, 2, np.nan),
        lambda: kresling(2, 0.1, 0.1, 0.1),
        lambda: pleats(0.1, 0.1, 3, angle=4.0),
        lambda: box(0.1, 0.1, 0.1, slot=0.06),
        lambda: miura(1000, 1000, 0.1, 0.1, ALPHA),
    ],
)
def test_bad_parameters(make):
    with pytest.raises(InputError):
        make()
