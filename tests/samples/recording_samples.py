"""States and recordings that look like those of a run, without running one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crumple.boundary.handles import Handle
from crumple.boundary.obstacles import make_obstacle
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.model.model import Model
from crumple.recording import Recorder, create_recording
from crumple.state import Pins, State, initial_state
from crumple.stepping.reports import FrameReport, StepReport


def grid_mesh(columns: int, rows: int) -> SheetMesh:
    """A rectangle of 0.1 m × 0.1 m cut into 2·columns·rows triangles; two sheets' worth of labels."""
    i, j = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1), indexing="ij")
    u = np.stack([0.1 * i.ravel() / columns, 0.1 * j.ravel() / rows], axis=1)
    a = (np.arange(columns)[:, None] * (rows + 1) + np.arange(rows)).ravel()
    b, c, d = a + rows + 1, a + rows + 2, a + 1
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    labels = np.arange(len(u), dtype=np.int32) % 3
    return make_sheet_mesh(u, faces, node_label=labels, face_material=np.arange(len(faces)) % 2)


def sample_state(columns: int = 5, rows: int = 4, *, frame: int = 0, seed: int = 0, obstacle: bool = True) -> State:
    """A wavy sheet with random values in every field."""
    mesh, random = grid_mesh(columns, rows), np.random.default_rng(seed + 1000 * frame)
    x = mesh.node_rest + [0.0, 0.0, 0.2] + 1e-3 * random.normal(size=(mesh.node_count, 3))
    state = initial_state(
        mesh,
        x,
        v=random.normal(size=x.shape),
        obstacle_x=sample_model(obstacle).obstacle_positions(0.0),
        obstacle_count=int(obstacle),
        pins=Pins(np.array([0, 3], np.int32), np.zeros(2, np.int32), random.normal(size=(2, 3))),
    )
    return state.replaced(
        y=random.normal(size=x.shape),
        plastic_curvature=random.normal(size=(mesh.face_count, 3)),
        damage=random.uniform(size=mesh.face_count),
        time=0.04 * frame,
        frame=frame,
        step_size=1e-3 / 3,
        steps=7 * frame,
        iterations=31 * frame,
    ).with_field("dye", random.uniform(size=mesh.face_count), where="face", rule="conserve")


def sample_model(obstacle: bool = True) -> Model:
    """A model with two materials, a handle, and one tetrahedron as obstacle, or none."""
    paper = Material.isotropic("paper", young=2e9, poisson=0.3, thickness=1e-4, density=0.08)
    corners = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    obstacles = (make_obstacle("block", faces, corners),) if obstacle else ()
    return Model(materials=(paper, paper), handles=(Handle("grip"),), obstacles=obstacles)


def step_report(time: float) -> StepReport:
    return StepReport(time, 0.02, 5, 12, 1e-4, {"membrane": 1.5}, 0.1)


def frame_report(state: State) -> FrameReport:
    phases = {"contact": 0.05, "factor": 0.1}
    return FrameReport(state.frame, state.time, state.mesh.face_count, 2, 10, 12, 0.2, phases, {}, ())


def record_frames(recorder: Recorder, frames: range, *, obstacle: bool = True) -> None:
    """Two steps and a frame, again and again, as a run tells them."""
    model = sample_model(obstacle)
    for frame in frames:
        state = sample_state(frame=frame, obstacle=obstacle)
        if frame == 0:
            recorder.on_start(model, state)
            continue
        for time in (state.time - 0.02, state.time):
            recorder.on_step(model, state.replaced(time=time, frame=frame - 1), step_report(time))
        recorder.on_frame(model, state, frame_report(state))


def make_recording(folder: Path, frames: int = 5, *, obstacle: bool = True) -> Path:
    """A recording of so many frames."""
    with create_recording(folder, "name = 'sample'\n") as recorder:
        record_frames(recorder, range(frames), obstacle=obstacle)
    return folder
