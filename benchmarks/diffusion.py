"""Whether creases wear off when the mesh changes again and again: with the plastic embedding, and without.

A sheet with one crease is held flat while it is remeshed with edge lengths that change every time. Either the plastic
curvature is kept by the embedding and only its residual is resampled ([Narain2013] §3), or it is resampled itself; with
the edges on the crease kept (`mark_creases`, what runs do) or not. The fold angle is that of the settled
embedding: right beside the crease, and between the far halves of the sheet. Resampling conserves the integral of the
plastic curvature, hence the latter, but smears the crease.

python benchmarks/diffusion.py [remeshes]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

from crumple.geometry.overlap import overlap_average
from crumple.mesh import SheetMesh
from crumple.options.sizing import SizingOptions
from crumple.plasticity import crease_from_edges, crease_hinges, insert_polyline, mark_creases, unmark_creases
from crumple.plasticity.embedding import Embedding
from crumple.remeshing import isotropic_sizing, remesh
from crumple.remeshing.sizing.combine import combine_disk
from crumple.remeshing.sizing.curvature import Curvature
from crumple.remeshing.sizing.field import combine_criteria
from crumple.remeshing.sizing.transfer import vertex_sizing
from crumple.shapes import rectangle
from crumple.state import initial_state
from crumple.state.embedded import handing_operator, plastic_residual, shown_plastic

WIDTH, HEIGHT = 0.1, 0.06
ANGLE = np.radians(90.0)
SIZES = (0.004, 0.01)
"""Finest edges, and finest edges away from the crease [m]."""
LINE = np.array([[0.47 * WIDTH, -0.5 * HEIGHT], [0.52 * WIDTH, 1.5 * HEIGHT]])
BESIDE = (SIZES[0], 3.0 * SIZES[0])
"""How far from the crease its fold angle is measured [m]: beyond one row of the finest elements."""


@dataclass(frozen=True)
class Creased:
    """A sheet held flat: its plastic curvature S_p (face_count, 3) [1/m] and embedding y (node_count, 3) [m]."""

    mesh: SheetMesh
    plastic: np.ndarray
    y: np.ndarray


def make_creased(angle: float = ANGLE) -> Creased:
    """A sheet with a crease across its middle, which is not labelled."""
    mesh, _ = rectangle(WIDTH, HEIGHT, 0.008)
    line = insert_polyline(mesh, LINE)
    plastic = crease_from_edges(line.mesh, line.hinges, angle)
    return Creased(line.mesh, plastic, Embedding(line.mesh).settle(line.mesh.node_rest, plastic))


def changed_sizing(sheet: Creased, step: int) -> np.ndarray:
    """The sizing field of the flat sheet with bounds and a wave of edge lengths that differ at every step."""
    mesh = sheet.mesh
    wave = np.sin(60.0 * mesh.u[:, 0] + 1.7 * step) * np.cos(80.0 * mesh.u[:, 1] - 2.3 * step)
    options = SizingOptions(
        refine_angle=0.3 + 0.1 * np.sin(1.3 * step), size_min=SIZES[0], size_max=SIZES[1] * (2.0 + np.sin(2.1 * step))
    )
    asked = Curvature(options.refine_angle, lambda state: state.plastic_curvature)
    state = initial_state(mesh, mesh.node_rest).replaced(plastic_curvature=sheet.plastic)
    field = vertex_sizing(mesh, combine_criteria(asked(state)[None], options))
    return combine_disk([field, isotropic_sizing(mesh, SIZES[1] * (1.5 + 0.5 * wave))])


def remesh_embedded(sheet: Creased, step: int, *, protect: bool = True) -> Creased:
    """One remesh as the simulator does it, and one Newton step of the embedding as in the next time step."""
    residual = plastic_residual(sheet.mesh, sheet.y, sheet.plastic)
    result = remesh(_marked(sheet, protect), changed_sizing(sheet, step), y=sheet.y)
    assert result.y is not None
    mesh = unmark_creases(result.mesh)
    shown = shown_plastic(mesh, result.y, residual, result.face_operator)
    area, old_area = np.abs(mesh.face_area), np.abs(sheet.mesh.face_area)
    overlap = result.face_operator.multiply(area[:, None])
    plastic = handing_operator(overlap.tocsr(), area, old_area, sheet.plastic, shown) @ sheet.plastic
    return Creased(mesh, plastic, Embedding(mesh).advance(result.y, plastic))


def remesh_naive(sheet: Creased, step: int, *, protect: bool = True) -> Creased:
    """One remesh with the plastic curvature averaged over the old faces under each new one."""
    result = remesh(_marked(sheet, protect), changed_sizing(sheet, step))
    plastic = overlap_average(result.face_operator, sheet.plastic)
    return Creased(unmark_creases(result.mesh), plastic, result.x)


def _marked(sheet: Creased, protect: bool) -> SheetMesh:
    return mark_creases(sheet.mesh, crease_hinges(sheet.mesh, sheet.plastic)) if protect else sheet.mesh


def fold_angle(sheet: Creased, near: float = 0.0, far: float = np.inf) -> float:
    """Angle [rad] between the two sides of the crease in the settled embedding: faces `near` to `far` [m] from it."""
    y = Embedding(sheet.mesh).settle(sheet.y, sheet.plastic)
    a, b, c = (y[sheet.mesh.face_nodes[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    side = distance(sheet)
    left = normal[(side < -near) & (side > -far)].sum(axis=0)
    right = normal[(side > near) & (side < far)].sum(axis=0)
    return float(np.arctan2(np.linalg.norm(np.cross(left, right)), left @ right))


def distance(sheet: Creased) -> np.ndarray:
    """Signed distance of the middle of each face from the crease [m]."""
    p, q = LINE
    way = (q - p) / np.linalg.norm(q - p)
    middle = sheet.mesh.u[sheet.mesh.faces].mean(axis=1) - p
    return middle[:, 0] * way[1] - middle[:, 1] * way[0]


def crease_width(sheet: Creased) -> float:
    """How far the plastic curvature reaches from the crease [m]: its first moment over the area."""
    size = np.sqrt(sheet.plastic[:, 0] ** 2 + sheet.plastic[:, 1] ** 2 + 2.0 * sheet.plastic[:, 2] ** 2)
    weight = size * np.abs(sheet.mesh.face_area)
    return float(weight @ np.abs(distance(sheet)) / weight.sum())


def main(remeshes: int = 200) -> None:
    ways = (
        ("embedding, edges kept", remesh_embedded, True),
        ("embedding", remesh_embedded, False),
        ("resampling, edges kept", remesh_naive, True),
        ("resampling", remesh_naive, False),
    )
    print(f"{'':24s}{'remeshes':>9s}{'angle':>9s}{'change':>9s}{'halves':>9s}{'width':>9s}{'faces':>7s}")
    for name, change, protect in ways:
        begin = time.perf_counter()
        sheet = make_creased()
        first = fold_angle(sheet, *BESIDE)
        for step in range(1, remeshes + 1):
            sheet = change(sheet, step, protect=protect)
            if step in (1, 5, 20, 50, 100, remeshes):
                angle, halves = fold_angle(sheet, *BESIDE), fold_angle(sheet, 0.03)
                print(
                    f"{name:24s}{step:9d}{np.degrees(angle):8.2f}°{angle / first - 1.0:9.2%}"
                    f"{np.degrees(halves):8.2f}°{1e3 * crease_width(sheet):7.2f}mm{sheet.mesh.face_count:7d}"
                )
        print(f"{name:24s}{time.perf_counter() - begin:9.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
