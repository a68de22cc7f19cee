"""A paper dart: a sheet that starts folded and not stretched."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crumple.mesh.limits import limit_faces, require_positive
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints

CREASE_LABEL = 1
"""The label of the edges along the creases of a dart."""
NOSE = 0.05
"""The first points behind the nose, as a fraction of the way to the edge of the sheet: layers come together there."""


@dataclass(frozen=True)
class DartFold:
    """How a dart is folded: angles at the nose [rad] between the creases, seen from there as on a map.

    `keel` height of the body below the wings; `opening` of the body at their roots, half; `dihedral` of the wings;
    `flap` by how much the flaps on the wings stand open; `inset` by which each flap ends before the next crease.
    """

    keel: float = 0.17
    opening: float = 0.05
    dihedral: float = 0.12
    flap: float = 0.17
    inset: float = 0.10


def dart(width: float, height: float, size: float, fold: DartFold | None = None) -> tuple[SheetMesh, Floats]:
    """A paper dart folded from the pattern [0, width] × [0, height]: nose at the origin, tail towards -x, wings ±y [m].

    All creases run through the middle of the upper side, which becomes the nose, so every part between two of them
    stays flat: the sheet is a cone over a polygon on the sphere around the nose, and its lengths are those of the
    pattern. On each side of the keel, a wing carries three flaps rolled in on it. Crease edges have label 1.
    """
    require_positive("dart", width=width, height=height, size=size)
    limit_faces("dart.size", 4.0 / np.sqrt(3.0) * width * height / size**2, size)
    corners = _dart_section(DartFold() if fold is None else fold)
    angles = np.concatenate([[0.0], np.cumsum(_arcs(corners))])
    corner = np.arctan2(0.5 * width, height)  # the ray to the lower corner of the sheet
    rays = np.unique(np.concatenate([angles, [corner]]))
    crease = np.isin(rays, angles[:-1])
    rays, crease = np.concatenate([-rays[:0:-1], rays]), np.concatenate([crease[:0:-1], crease])
    u, faces, node_ray = _fan(width, height, size, rays)
    mesh = make_sheet_mesh(
        u + np.array([0.5 * width, height]), faces, edge_label=_crease_labels(faces, node_ray, crease)
    )
    return mesh, _roll_up(u, angles, corners)


def _dart_section(fold: DartFold) -> Floats:
    """Unit vectors (6, 3) from the nose along the creases of one half, in order, and along the edge of the sheet.

    The first is the bottom of the keel. The span of the wing is such that the angles between them make a right angle.
    """

    def section(span: float) -> Floats:
        root = np.array([fold.opening, 0.0])
        out, up = np.array([np.cos(fold.dihedral), np.sin(fold.dihedral)]), np.array([0.0, 1.0])
        wedge = fold.flap / span  # height of the first flap per distance from the edge of the wing
        tip = root + span * out
        back = tip - (span - 0.5 * fold.inset) * out + wedge * (span - 0.5 * fold.inset) * up
        inner = tip - fold.inset * out + 0.5 * wedge * fold.inset * up
        last = root + fold.inset * out + 0.35 * wedge * (span - fold.inset) * up
        return _directions(np.array([[0.0, -fold.keel], root, tip, back, inner, last]))

    low, high = 2.0 * fold.inset, 1.5
    if not _arcs(section(low)).sum() < 0.5 * np.pi < _arcs(section(high)).sum():
        raise InputError("dart.fold", "leaves no room for the wings", fold)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _arcs(section(middle)).sum() < 0.5 * np.pi else (low, middle)
    return section(low)


def _directions(points: Floats) -> Floats:
    """Unit vectors (n, 3) at the angle and azimuth from -x that points (n, 2) [rad] have on the map."""
    angle = np.linalg.norm(points, axis=1, keepdims=True)
    return np.hstack([-np.cos(angle), np.sinc(angle / np.pi) * points])


def _arcs(directions: Floats) -> Floats:
    """Angles between consecutive unit vectors, (n - 1,) [rad]."""
    return 2.0 * np.arcsin(0.5 * np.linalg.norm(np.diff(directions, axis=0), axis=1))


def _roll_up(offset: Floats, angles: Floats, corners: Floats) -> Floats:
    """World points (n, 3) of pattern points given from the nose: each stays at its distance, on the cone."""
    radius, angle = np.hypot(*offset.T), np.arctan2(np.abs(offset[:, 0]), -offset[:, 1])
    part = np.clip(np.searchsorted(angles, angle, side="right") - 1, 0, len(angles) - 2)
    arc, turn = np.diff(angles)[part], np.clip(angle - angles[part], 0.0, None)
    a, b = np.sin(arc - turn) / np.sin(arc), np.sin(turn) / np.sin(arc)
    x = radius[:, None] * (a[:, None] * corners[part] + b[:, None] * corners[part + 1])
    x[:, 1] *= np.where(offset[:, 0] < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(x)


def _fan(width: float, height: float, size: float, rays: Floats) -> tuple[Floats, Ints, Ints]:
    """Triangles of a rectangle with edges along all `rays` [rad] from the middle of its upper side, and two to its
    lower corners: pattern points seen from there, faces, and the ray of each point (-1: none, -2: the origin)."""
    reach = np.minimum(0.5 * width / np.maximum(np.abs(np.sin(rays)), 1e-12), height / np.maximum(np.cos(rays), 1e-12))
    ends = reach[:, None] * np.stack([np.sin(rays), -np.cos(rays)], axis=1)
    points, node_ray, faces = [np.zeros((1, 2))], [np.array([-2])], []
    rings = max(2, round(float(reach.max()) / size))
    count, inner = 1, [np.zeros(1, np.int32)] * (len(rays) - 1)
    for share in np.linspace(max(NOSE, 1.0 / rings), 1.0, rings):
        outer = []
        for ray, (a, b) in enumerate(pairwise(ends)):
            parts = max(1, round(share * float(np.linalg.norm(b - a)) / size))
            last = ray == len(rays) - 2
            step = np.arange(parts + last) / parts
            points.append(share * (a + step[:, None] * (b - a)))
            node_ray.append(np.where(step == 0.0, ray, np.where(step == 1.0, ray + 1, -1)))
            outer.append(
                np.arange(count, count + parts + 1, dtype=np.int32)
            )  # its last point is the first of the next part
            count += len(step)
        for low, high in zip(inner, outer, strict=True):
            faces += _zip(low, high)
        inner = outer
    return np.concatenate(points), np.array(faces, np.int32), np.concatenate(node_ray)


def _zip(inner: Ints, outer: Ints) -> list[tuple[int, int, int]]:
    """Triangles between two rows of points side by side, each evenly spaced, counter-clockwise seen from outside in."""
    faces = []
    i = j = 0
    while i < len(inner) - 1 or j < len(outer) - 1:
        if j < len(outer) - 1 and (i == len(inner) - 1 or (j + 1) * (len(inner) - 1) <= (i + 1) * (len(outer) - 1)):
            faces.append((int(inner[i]), int(outer[j]), int(outer[j + 1])))
            j += 1
        else:
            faces.append((int(inner[i]), int(outer[j]), int(inner[i + 1])))
            i += 1
    return faces


def _crease_labels(faces: Ints, node_ray: Ints, crease: Bools) -> Ints:
    """Labels (face_count, 3) of half-edges: `CREASE_LABEL` on the rays that are creases."""
    a, b = node_ray[faces], np.roll(node_ray[faces], -1, axis=1)
    ray = np.where(a == -2, b, np.where((b == -2) | (a == b), a, -1))
    return np.where((ray >= 0) & crease[ray], CREASE_LABEL, 0).astype(np.int32)
