"""Makes two-engines.md's film images/two-engines.webp and picture images/two-engines.jpg, and prints its numbers: one
script of hands, in both engines.

python docs/two_engines.py [FOLDER]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from crumple.cli.playing import load_sheet
from crumple.developable import DevelopableEngine
from crumple.model.derived import Derived
from crumple.recording import Recording
from crumple.rendering import View, render_film
from crumple.runtime.timing import PhaseTimer
from crumple.session.script import Script
from crumple.session.simulation import Simulation
from crumple.state import State

IMAGES = Path(__file__).parent / "images"
SCRIPT = Path(__file__).parent / "two-engines.json"
ENGINES = ("physics", "developable")
FINE = ["sheets[0].shape.size=0.008"]
"""Of the mesh of the physics: fine enough for the tip of a cone."""
SIDE, FRAME = 0.15, 1 / 60
CLOSER, PINCHED = 0.016, 0.02
"""How far hands go inwards: first those of two sides, then those of one of them [m]."""
EVERY, SECONDS = 4, 1 / 15
PEAKS, APART, HELD = 3, 0.02, 0.02
"""How many peaks of curvature are told, how far they are from each other and from the sides that hands hold [m]."""


def write_script() -> Script:
    """What hands do on a table: two sides of a sheet of note paper are pushed together, then the corners of one side,
    and it is let go."""
    session = Simulation(load_sheet("note"))
    corners = [(0.002, 0.002), (SIDE - 0.002, 0.002), (SIDE - 0.002, SIDE - 0.002), (0.002, SIDE - 0.002)]
    hands = [session.grab(u) for u in corners]
    starts = [session.hand_position(hand) for hand in hands]
    for frame in range(1, 136):
        near, then = min(frame / 60, 1.0), min(max((frame - 65) / 60, 0.0), 1.0)
        for hand, start, (u, v) in zip(hands, starts, corners, strict=True):
            inwards = np.array([np.sign(SIDE / 2 - u) * CLOSER * near, 0.0, 0.002 * near])
            if u < SIDE / 2:
                inwards[1] = np.sign(SIDE / 2 - v) * PINCHED * then
            session.move(hand, start + inwards)
        session.advance(FRAME, keep=False)
    for hand in hands:
        session.release(hand)
    for _ in range(45):
        session.advance(FRAME, keep=False)
    return Script(session.script().actions)  # of any start


def play(engine: str, script: Script, folder: Path) -> tuple[Recording, Simulation, dict[str, float]]:
    """The recording of the script in an engine as it is shown, its session at the end, and what was measured."""
    session = make_session(engine)
    recording = session.record(folder, force=True, shown=True)
    strains, held = [], session.state
    for action in script.actions:
        session.play(Script((action,)))
        if action.method == "advance":
            strains.append(strain(session.state))
            held = session.state if session.hands else held
    session.close()
    spent = frame_times(engine, script)
    mean, most = np.array(strains).T
    numbers = {
        "faces": session.state.mesh.face_count,
        "CPU time of a frame, median [ms]": 1e3 * float(np.median(spent[3:])),
        "99th percentile [ms]": 1e3 * float(np.percentile(spent[3:], 99)),
        "mean strain of edges, worst frame [%]": 100 * float(mean.max()),
        "largest strain of any edge in any frame [%]": 100 * float(most.max()),
        "energy of bending before it is let go [mJ]": 1e3 * bending_energy(session, held),
        "energy of bending at the end [mJ]": 1e3 * bending_energy(session, session.state),
        "height before it is let go [mm]": 1e3 * float(held.x[:, 2].max()),
        "height at the end [mm]": 1e3 * float(session.state.x[:, 2].max()),
    }
    return recording, session, numbers


def frame_times(engine: str, script: Script) -> list[float]:
    """The CPU time of every frame [s], without showing and recording anything."""
    session, spent = make_session(engine), []
    for action in script.actions:
        begin = time.process_time()
        session.play(Script((action,)))
        if action.method == "advance":
            spent.append(time.process_time() - begin)
    return spent


def make_session(engine: str) -> Simulation:
    """A sheet of note paper on a table."""
    return Simulation(load_sheet("note", FINE if engine == "physics" else ()), engine=engine)


def bending_energy(session: Simulation, state: State) -> float:
    """Of a state, with what folds at singular points remember [J]."""
    derived = Derived(session.model, state, PhaseTimer()).prepared()
    return derived.measure("bending", state) + derived.measure("developable folds", state)


def strain(state: State) -> tuple[float, float]:
    """The mean and the largest strain of the edges of a mesh."""
    mesh = state.mesh
    tail, head = mesh.edges.T
    rest = np.linalg.norm(mesh.node_rest[head] - mesh.node_rest[tail], axis=1)
    strains = np.abs(np.linalg.norm(state.x[head] - state.x[tail], axis=1) / rest - 1.0)
    return float(strains.mean()), float(strains.max())


def peaks(state: State) -> np.ndarray:
    """Where the plastic curvature of a sheet has its largest values, (k, 2) [m] of the pattern, hands apart."""
    u = state.mesh.u[state.mesh.faces].mean(axis=1)
    size = np.linalg.norm(state.plastic_curvature, axis=1)
    found: list[np.ndarray] = []
    for face in np.argsort(-size):
        is_held = np.abs(u[face] - 0.5 * SIDE).min() > 0.5 * SIDE - HELD
        if size[face] > 0.0 and not is_held and all(np.linalg.norm(u[face] - other) > APART for other in found):
            found.append(u[face])
        if len(found) == PEAKS:
            break
    return np.array(found).reshape(-1, 2)


def draw(physics: Simulation, developable: Simulation) -> None:
    """The pattern: plastic curvature of the physics, under rulings and singular points of the other engine."""
    assert isinstance(developable.engine, DevelopableEngine)
    structure, state = developable.engine.paper.structure, physics.state
    figure, axes = plt.subplots(figsize=(5.6, 4.8))
    size = np.linalg.norm(state.plastic_curvature, axis=1)
    shown = axes.tripcolor(*(1e3 * state.mesh.u.T), state.mesh.faces, facecolors=size, cmap="YlOrBr")
    figure.colorbar(shown, label="plastic curvature of the physics [1/m]")
    for curve in structure.curves.values():
        for a, b in curve.rulings:
            axes.plot(*(1e3 * np.stack([structure.u(a), structure.u(b)], axis=1)), color="#2b4c7e", linewidth=0.7)
    for key in structure.singular:
        axes.plot(*(1e3 * structure.u(key)), "o", color="#c0271b", markersize=7)
    axes.plot(*(1e3 * peaks(state).T), "x", color="k", markersize=8)
    axes.set(aspect="equal", xlabel="u [mm]", ylabel="v [mm]")
    axes.set_title("rulings and singular points (dots) of one engine,\npeaks of the other (crosses)", fontsize=9)
    figure.tight_layout()
    figure.savefig(IMAGES / "two-engines.jpg", dpi=110, pil_kwargs={"quality": 88})


def film(recordings: list[Recording], folder: Path) -> None:
    """Both side by side."""
    columns = []
    for recording in recordings:
        frames, name = recording.frames[::EVERY], recording.path.name
        camera = View(position=(0.13, -0.33, 0.22), target=(0.0, 0.0, 0.015))
        render_film(recording, folder / f"{name}.%04d.png", size=(400, 320), frames=frames, camera=camera)
        columns.append([np.asarray(Image.open(p).convert("RGB")) for p in sorted(folder.glob(f"{name}.*.png"))])
    pictures = [Image.fromarray(np.concatenate(row, axis=1)) for row in zip(*columns, strict=True)]
    pictures[0].save(
        IMAGES / "two-engines.webp", save_all=True, append_images=pictures[1:], duration=round(1000 * SECONDS), loop=0,
        quality=80, method=6,
    )  # fmt: skip


def main() -> None:
    """Play, measure, draw."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/two-engines")
    folder.mkdir(parents=True, exist_ok=True)
    script = write_script()
    script.save(SCRIPT)
    played = {engine: play(engine, Script.load(SCRIPT), folder / engine) for engine in ENGINES}
    for key in played["physics"][2]:
        print(f"| {key} | " + " | ".join(f"{played[engine][2][key]:.3g}" for engine in ENGINES) + " |")
    physics, developable = (played[engine][1] for engine in ENGINES)
    assert isinstance(developable.engine, DevelopableEngine)
    structure = developable.engine.paper.structure
    print("singular points [mm]:", [np.round(1e3 * structure.u(key), 1).tolist() for key in structure.singular])
    print("peaks of plastic curvature [mm]:", np.round(1e3 * peaks(physics.state), 1).tolist())
    draw(physics, developable)
    film([played[engine][0] for engine in ENGINES], folder)


if __name__ == "__main__":
    main()
