"""Cones through rulings: exact ones are recovered, and rulings of twisted strips are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crumple.developable import developable_sheet
from crumple.developable.cones import _pooled, fit_cone, refit, ruling_normals, split_cones, torsal_directions
from crumple.developable.paper import commit
from crumple.developable.sessions import script
from crumple.developable.structure import Draft
from crumple.runtime.typing import Floats

SIZE = 0.1


def cone(distance: float, half_angle: float = 0.6, count: int = 9) -> tuple[Floats, Floats]:
    """Rulings of a cone of revolution whose apex, the origin, is `distance` away from them [m]."""
    turn = np.linspace(-0.5, 0.5, count)
    way = np.stack(
        [np.sin(half_angle) * np.sin(turn), np.full(count, np.cos(half_angle)), np.sin(half_angle) * np.cos(turn)],
        axis=1,
    )
    return distance * way, (distance + SIZE) * way


def cylinder(count: int = 9) -> tuple[Floats, Floats]:
    turn = np.linspace(-0.5, 0.5, count)
    p = 0.08 * np.stack([np.sin(turn), np.zeros(count), np.cos(turn)], axis=1)
    return p, p + np.array([0.0, SIZE, 0.0])


@pytest.mark.parametrize("distance", [0.01, 0.1, 1.0])
def test_the_apex_of_an_exact_cone_is_found(distance: float) -> None:
    shift = np.array([0.3, -0.2, 0.1])
    p, q = cone(distance)
    found = fit_cone(p + shift, q + shift, SIZE)
    assert found.error.max() < 1e-8
    assert np.allclose(found.apex[:3] / found.apex[3], shift, rtol=0.0, atol=1e-8 * max(1.0, distance / SIZE) ** 2)


def test_a_cylinder_has_its_apex_at_infinity() -> None:
    found = fit_cone(*cylinder(), SIZE)
    assert found.error.max() < 1e-8
    assert abs(found.apex[3]) < 1e-8
    assert abs(abs(found.apex[1]) - 1.0) < 1e-8


def test_normals_of_a_cone_are_those_of_its_tangent_planes() -> None:
    p, q = cone(0.1)
    normal = ruling_normals(p, q)
    assert np.abs(np.sum(normal * p[1:-1], axis=1)).max() < 1e-12  # all go through the apex, the origin
    radial = p[1:-1] - np.array([0.0, 1.0, 0.0]) * np.linalg.norm(p[1:-1], axis=1)[:, None] / np.cos(0.6)
    exact = radial / np.linalg.norm(radial, axis=1)[:, None]
    assert np.abs(np.abs(np.sum(normal * exact, axis=1)) - 1.0).max() < 1e-8


def test_one_cone_is_one_run() -> None:
    (run,) = split_cones(*cone(0.05), SIZE, 5e-4)
    assert run[:2] == (0, 9)


def test_a_cylinder_and_a_cone_are_told_apart() -> None:
    """A cylinder continued smoothly by a cone of the same tangent plane at the common ruling."""
    p, q = cylinder(9)
    tip = q[-1]
    way, normal = (p[-1] - q[-1]) / SIZE, np.array([np.sin(0.5), 0.0, np.cos(0.5)])
    across = np.cross(way, normal)
    if across @ (p[-1] - p[-2]) < 0.0:
        across = -across
    turn = np.linspace(0.12, 0.9, 8)[:, None]
    lines = np.cos(turn) * way + np.sin(turn) * across - 0.5 * turn**2 * normal
    lines /= np.linalg.norm(lines, axis=1)[:, None]
    runs = split_cones(
        np.concatenate([p, tip + SIZE * lines]), np.concatenate([q, tip + 0.2 * SIZE * lines]), SIZE, 2e-4
    )
    assert len(runs) == 2
    assert all(run[2].error.max() <= 2e-4 for run in runs)
    assert abs(runs[0][2].apex[3]) < 0.05
    assert abs(runs[1][2].apex[3]) > 0.5


def test_rulings_that_turn_keep_their_order_and_some_room() -> None:
    wanted = np.array([0.0, 3.0, 2.0, 2.5, 9.0])
    found = _pooled(wanted, np.ones(5))
    assert found == pytest.approx([0.0, 2.5, 2.5, 2.5, 9.0])
    fixed = _pooled(wanted, np.array([1.0, 1e9, 1.0, 1.0, 1.0]))
    assert fixed[1:4] == pytest.approx(3.0)


class Helix:
    """The tangent developable of a helix of curvature κ and torsion τ; in the pattern the helix is a circle of radius
    1/κ, and rulings are tangents of it."""

    def __init__(self, curvature: float = 10.0, torsion: float = 6.0) -> None:
        self.radius = 1.0 / curvature
        total = curvature**2 + torsion**2
        self.a, self.b, self.c = curvature / total, torsion / total, np.sqrt(1.0 / total)

    def lift(self, u: Floats) -> Floats:
        """The point of the surface (3,) at a point of the pattern (2,) outside the circle."""
        far = np.linalg.norm(u)
        t = np.sqrt(far**2 - self.radius**2)
        angle = np.arctan2(u[1], u[0]) - np.arctan2(t, self.radius)
        s = self.radius * angle / self.c
        point = np.array([self.a * np.cos(s), self.a * np.sin(s), self.b * s])
        return point + t / self.c * np.array([-self.a * np.sin(s), self.a * np.cos(s), self.b])

    def ruling(self, angle: float, turned: float) -> Floats:
        """The ends (2, 2) in the pattern of a line at the tangent of an angle, turned about its middle [rad]."""
        normal, way = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        middle = self.radius * normal + 0.08 * way
        line = np.cos(turned) * way + np.sin(turned) * normal
        return np.array([middle - 0.03 * line, middle + 0.03 * line])


class Fixed:
    """Vertices of a pattern by key."""

    def __init__(self, points: Floats) -> None:
        self.points = points

    def u(self, key: int) -> Floats:
        return np.asarray(self.points[key])


@pytest.mark.parametrize("turned", [0.0, 0.05, -0.1])
def test_the_rulings_of_a_tangent_developable_are_found(turned: float) -> None:
    """Lines that are off turn to the rulings, as they do in the course of some frames, and stay there."""
    helix, angles = Helix(), np.linspace(0.0, 0.8, 12)
    off, count = np.full(12, turned), 12
    rulings = tuple((k, count + k) for k in range(count))
    for _ in range(6):
        ends = np.array([helix.ruling(*pair) for pair in zip(angles, off, strict=True)])
        structure: Any = Fixed(ends.transpose(1, 0, 2).reshape(-1, 2))
        p, q = (np.array([helix.lift(u) for u in ends[:, k]]) for k in (0, 1))
        found = torsal_directions(structure, rulings, p, q)[:, :2]
        across = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        along = np.stack([-np.sin(angles), np.cos(angles)], axis=1)
        off = np.arctan2(np.sum(found * across, axis=1), np.sum(found * along, axis=1))
    assert np.abs(off).max() <= 0.02


@pytest.mark.parametrize("turn", [0.0, 1.0])
def test_rulings_on_a_plane_and_on_a_cylinder_stay(turn: float) -> None:
    """On a plane nobody can tell, and on an exact cylinder they are where they belong."""
    engine = developable_sheet(gravity=(0.0, 0.0, 0.0))
    draft = Draft(engine.paper.structure)
    key = draft.curve([(draft.border(x), draft.border(0.3 - x)) for x in np.linspace(0.02, 0.08, 7)])
    paper = commit(engine.paper, draft.build())
    u = paper.layout.mesh.u
    radius = SIZE / max(turn, 1e-9)
    s = (u[:, 0] - 0.05) / radius
    x = np.stack([radius * np.sin(s), u[:, 1], radius * (np.cos(s) - 1.0) if turn else 0.0 * s], axis=1)
    paper = replace(paper, state=paper.state.replaced(x=x))
    assert refit(paper, key) is paper
    p, q = (np.array([paper.x(edge[end]) for edge in paper.structure.curves[key].rulings]) for end in (0, 1))
    if turn:
        assert fit_cone(p, q, SIZE).error.max() < 1e-8
    else:
        assert np.abs(np.abs(ruling_normals(p, q)[:, 2]) - 1.0).max() < 1e-8


@pytest.mark.long
def test_a_band_of_moebius_stays_smooth() -> None:
    structure = script("figure 18 top").run(seed=3).paper.structure
    assert structure.singular == ()
    (curve,) = structure.curves.values()
    assert len(curve.rulings) > 20
