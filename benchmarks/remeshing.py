"""How long remeshing takes: 50k faces from a fresh field, and with the contact guard in a dense stack.

python benchmarks/remeshing.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.contact import make_surface
from crumple.remeshing import Guard, RemeshResult, isotropic_sizing, remesh


def timed(name: str, run: Callable[[], RemeshResult]) -> None:
    """Print the best of three runs."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    done = result.statistics
    print(
        f"{name:44s} {result.old_mesh.face_count:6d} → {result.mesh.face_count:6d} faces  {min(seconds):6.2f} s  "
        f"({done.splits} splits, {done.flips} flips, {done.collapses} collapses, {done.refused} refused)"
    )


def band(u: np.ndarray, middle: float, finest: float) -> np.ndarray:
    """Tensors fine across the line u₀ = middle, five times as coarse along it, 0.1 m far away."""
    across = np.clip(0.2 * np.abs(u[:, 0] - middle), finest, 0.1)
    return np.stack([across**-2, np.maximum(across * 5.0, 0.1) ** -2, np.zeros(len(u))], axis=1)


def stack(layers: int, columns: int) -> tuple[cm.SheetMesh, np.ndarray, Guard]:
    """Wavy sheets of 0.2 m on top of each other, 0.2 mm apart, of 0.1 mm paper."""
    one, x = cs.rectangle(0.2, 0.2, kind="alternating", divisions=(columns, columns))
    mesh, _ = cm.concatenate([one] * layers)
    x = np.concatenate([x + np.array([0.0, 0.0, 2e-4 * layer]) for layer in range(layers)])
    x[:, 2] += 2e-3 * np.sin(40.0 * x[:, 0]) * np.sin(40.0 * x[:, 1])
    surface = make_surface(
        mesh.face_nodes, mesh.node_rest, node_part=mesh.node_sheet, part_thickness=1e-4, dhat=1e-4,
        face_area=mesh.face_area,
    )  # fmt: skip
    return mesh, x, Guard(surface, np.zeros((0, 3)))


def main() -> None:
    fine, _ = cs.rectangle(1.0, 1.0, kind="alternating", divisions=(160, 160))
    coarse, _ = cs.rectangle(1.0, 1.0, kind="alternating", divisions=(20, 20))
    remesh(coarse, isotropic_sizing(coarse, 0.04))  # compile
    timed("51k faces, new anisotropic field", lambda: remesh(fine, band(fine.u, 0.3, 2e-3)))
    timed("51k faces, a band moves", _moved_band(fine))
    timed("refine 800 faces to about 50k", lambda: remesh(coarse, isotropic_sizing(coarse, 9e-3)))
    mesh, x, guard = stack(5, 27)
    size = isotropic_sizing(mesh, np.where(mesh.u[:, 0] < 0.03, 0.006, 0.0115))
    timed("7k faces in contact, without guard", lambda: remesh(mesh, size, x=x))
    timed("7k faces in contact, with guard", lambda: remesh(mesh, size, x=x, guard=guard))


def _moved_band(mesh: cm.SheetMesh) -> Callable[[], RemeshResult]:
    """Remeshing of a mesh of about 50k faces when its fine region moves a little."""
    first = remesh(mesh, isotropic_sizing(mesh, 8e-3)).mesh

    def sizing(middle: float) -> np.ndarray:
        size = np.where(np.abs(first.u[:, 0] - middle) < 0.2, 5e-3, 9e-3)
        return isotropic_sizing(first, size)

    before = remesh(first, sizing(0.4))
    size = np.where(np.abs(before.mesh.u[:, 0] - 0.42) < 0.2, 5e-3, 9e-3)
    return lambda: remesh(before.mesh, isotropic_sizing(before.mesh, size))


if __name__ == "__main__":
    main()
