"""Pictures of tears: the crack on the pattern, the forces that pulled, the ledger of energies."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crumple.analysis.tears import Tears
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.recording.files import write_output
from crumple.runtime.typing import Floats

BLUE, RED, INK = "#1f5fa8", "#c0392b", "#222222"
COLORS = (BLUE, RED, "#2e7d32", "#8e44ad", "#b7791f")


def draw_cracks(tears: Tears, mesh: SheetMesh, crease: Floats, axes: Any) -> None:
    """The paths of all cracks on the pattern, over the creases: `crease` (face_count, 3), see `State`."""
    from matplotlib.collections import LineCollection

    u = 1e3 * mesh.u
    worked = crease[:, 0] + crease[:, 1]
    top = float(np.quantile(worked, 0.98)) or 1.0
    axes.tripcolor(u[:, 0], u[:, 1], mesh.faces, worked, cmap="Greys", vmin=0.0, vmax=2.0 * top)
    corner = np.flatnonzero(mesh.twin == BOUNDARY)
    flat = mesh.faces.ravel()
    ends = np.stack([u[flat[corner]], u[flat[corner - corner % 3 + (corner + 1) % 3]]], axis=1)
    axes.add_collection(LineCollection(list(ends), colors=INK, linewidths=0.6))
    for crack in tears.cracks:
        axes.plot(*(1e3 * crack.path).T, color=RED, linewidth=1.6, solid_capstyle="round")
        axes.plot(*(1e3 * crack.path[:1]).T, "o", color=RED, markersize=3)
    axes.set_aspect("equal")
    axes.set_xlabel("mm")
    axes.set_ylabel("mm")
    rough = ""
    if tears.roughness is not None:
        rough = f", turns {np.degrees(tears.roughness):.1f}° per {1e3 * tears.spacing:.3g} mm"
    axes.set_title(f"cracks: {1e3 * tears.length:.0f} mm{rough}", fontsize=10)


def draw_forces(tears: Tears, axes: Any) -> None:
    """Force over displacement of each handle and obstacle that moves."""
    moving = tears.moving
    for curve, color in zip(moving, COLORS, strict=False):
        axes.plot(1e3 * curve.way, curve.pull, color=color, linewidth=1.0, label=curve.name)
    axes.set_xlabel("displacement [mm]")
    axes.set_ylabel("force [N]")
    axes.set_title("forces", fontsize=10)
    axes.grid(True, linewidth=0.3)
    if moving:
        axes.legend(fontsize=8)


def draw_ledger(tears: Tears, axes: Any) -> None:
    """Where the work went."""
    ledger = tears.ledger
    if ledger is None:
        axes.set_axis_off()
        return
    names = ("work", "stored", "fracture", "yielding", "dissipated")
    joules = (ledger.work, ledger.stored, ledger.fracture, ledger.yielding, ledger.dissipated)
    axes.bar(names, [1e3 * value for value in joules], color=[INK, BLUE, RED, "#7b5ea7", "#b7791f"])
    axes.tick_params(axis="x", labelsize=7)
    axes.set_ylabel("energy [mJ]")
    axes.set_title("ledger", fontsize=10)
    axes.grid(True, linewidth=0.3)


def save_tears(
    tears: Tears, mesh: SheetMesh, crease: Floats, folder: Path, new: Callable[[tuple[float, float]], Any], kind: str
) -> list[Path]:
    """A file of the `kind` with all three, and the cracks alone; nothing without matplotlib. `new` makes an empty
    figure."""
    figure, single = new((13.0, 4.4)), new((5.6, 5.4))
    if figure is None:
        return []
    path, forces, ledger = figure.subplots(1, 3)
    draw_cracks(tears, mesh, crease, path)
    draw_forces(tears, forces)
    draw_ledger(tears, ledger)
    draw_cracks(tears, mesh, crease, single.add_subplot())
    written = []
    for canvas, name in ((figure, f"tears.{kind}"), (single, f"cracks.{kind}")):
        content = io.BytesIO()
        canvas.savefig(content, format=kind, dpi=110)
        write_output(folder / name, content.getvalue())
        written.append(folder / name)
    return written
