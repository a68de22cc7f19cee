"""The force that it takes to crumple a sheet in a container that shrinks, F(R), and what of it passes through contact.

The container presses with F = −dE/dR, E the energy of its contact with the sheets and R the radius of a ball of its
volume. A sheet at rest hands this force on in two ways: by stresses in its plane, and by layers that press on each
other. When everything is scaled, bending by angles does not change, and the virials of the others add up (friction and
inertia left out):

    F R = −Σ x·∂E_self/∂x − Σ x·∂E_membrane/∂x

The first sum over R is `self_contact`, the force that is carried from layer to layer by the barrier of contact.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crumple.analysis.analyze import recording_model
from crumple.analysis.columns import TABLES
from crumple.analysis.figures import BLUE, RED, finish_axes, new_canvas, save_canvas
from crumple.analysis.pressure import container_nodes, container_volumes
from crumple.analysis.tables import write_csv
from crumple.analysis.tuning import TUNING
from crumple.contact import active_pairs, find_candidates
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.recording.recording import Recording
from crumple.runtime.typing import Floats, Ints
from crumple.state import State

SHRINKS = TUNING.container_shrinks.value


@dataclass(frozen=True)
class Confinement:
    """Force on a container frame by frame, arrays (n,): `frame`, `radius` [m] of a ball of its volume, `force` [N],
    `self_contact` [N], the part of it that layers hand on to each other, and `energy` [J] of all contact."""

    name: str
    frame: Ints
    radius: Floats
    force: Floats
    self_contact: Floats
    energy: Floats

    @property
    def shrinking(self) -> slice:
        """The frames up to that in which the container is smallest."""
        return slice(0, int(np.argmin(self.radius)) + 1)


def confinements(recording: Recording) -> list[Confinement]:
    """F(R) of every closed obstacle of a recording that shrinks, from frame 1 on."""
    model, frames = recording_model(recording), recording.frames[1:]
    if not model.obstacles or not frames:
        return []
    width = np.array([_widths(model, time) for time in recording.times().values()])
    chosen = [
        k
        for k, obstacle in enumerate(model.obstacles)
        if _is_closed(obstacle.faces) and width[:, k].min() < SHRINKS * width[0, k]
    ]
    if not chosen:
        return []
    rows = np.array([measure_confinement(model, recording.load(frame)) for frame in frames])
    names = [obstacle.name or f"obstacle {k}" for k, obstacle in enumerate(model.obstacles)]
    return [Confinement(names[k], np.array(frames, np.int32), *rows[:, :, k].T) for k in chosen]


def measure_confinement(model: Model, state: State) -> Floats:
    """Radius [m], force [N], force by self-contact [N] and energy of contact [J] of every container, (4, count).

    Contact of sheets with themselves belongs to the container whose centre is nearest.
    """
    surface = contact_surface(model, state, state.time)
    x = np.ascontiguousarray(np.concatenate([state.x, state.obstacle_x]))
    barrier = active_pairs(surface, find_candidates(surface, x, x, surface.reach), x, model.contact.stiffness)
    energy, gradient = barrier.value(x), barrier.gradient(x)
    inside = [x[first:last].mean(axis=0) for first, last in container_nodes(model, state)]
    middle = x[barrier.stencil].mean(axis=1)
    nearest = np.argmin([np.linalg.norm(middle - centre, axis=1) for centre in inside], axis=0)
    own = np.all(barrier.stencil < state.mesh.node_count, axis=1)
    virial = -np.einsum("nij,nij->n", gradient, x[barrier.stencil])  # of a pair: its forces add up to nothing
    radius = (0.75 * container_volumes(model, state) / np.pi) ** (1.0 / 3.0)
    found = np.zeros((4, len(inside)))
    for k, (first, last) in enumerate(container_nodes(model, state)):
        mine = (barrier.stencil >= first) & (barrier.stencil < last)
        pressed = -np.einsum("nij,nij,ni->", gradient, x[barrier.stencil] - inside[k], mine.astype(float))
        ours = nearest == k
        found[:, k] = radius[k], 0.0 + pressed / radius[k], virial[own & ours].sum() / radius[k], energy[ours].sum()
    return found


def describe_confinement(curve: Confinement) -> list[tuple[str, str]]:
    """Rows for the terminal: where the container is smallest."""
    last = int(np.argmin(curve.radius))
    share = curve.self_contact[last] / curve.force[last] if curve.force[last] > 0.0 else 0.0
    return [
        ("smallest radius", f"{1e3 * curve.radius[last]:.4g} mm, frame {curve.frame[last]}"),
        ("force −dE/dR there", f"{curve.force[last]:.4g} N"),
        ("of it from layer to layer, by contact", f"{100.0 * share:.3g} %"),
    ]


def save_confinement(curves: list[Confinement], folder: Path, kind: str = "png") -> list[Path]:
    """confinement.csv, and a figure of the `kind` where matplotlib is installed."""
    rows = [
        (curve.name, int(frame), *map(float, numbers))
        for curve in curves
        for frame, *numbers in zip(
            curve.frame, curve.radius, curve.force, curve.self_contact, curve.energy, strict=True
        )
    ]
    written = [write_csv(folder / "confinement.csv", tuple(TABLES["confinement"]), rows)]
    canvas = new_canvas((5.6, 4.6))
    if canvas is None:
        return written
    axes = canvas.add_subplot()
    for number, curve in enumerate(curves):
        while_shrinking = curve.shrinking
        radius = 1e3 * curve.radius[while_shrinking]
        for values, color, label in ((curve.force, BLUE, "force"), (curve.self_contact, RED, "by contact of layers")):
            shown = values[while_shrinking] > 0.0
            axes.loglog(radius[shown], values[while_shrinking][shown], ".-", color=color, label="" if number else label)
    finish_axes(axes, "radius of the container R [mm]", "force F = −dE/dR [N]", "crumpling force")
    return [*written, save_canvas(canvas, folder / f"confinement.{kind}")]


def _widths(model: Model, time: float) -> list[float]:
    """The mean width of the box around each obstacle [m]."""
    ends = np.cumsum([obstacle.node_count for obstacle in model.obstacles])[:-1]
    return [float(np.ptp(x, axis=0).mean()) for x in np.split(model.obstacle_positions(time), ends)]


def _is_closed(faces: Ints) -> bool:
    """Whether every edge belongs to two faces."""
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] == 2).all())
