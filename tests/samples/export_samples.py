"""A recording of sheets that move as told while their meshes change from frame to frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from recording_samples import frame_report, sample_model, step_report

from crumple.mesh.combine import concatenate
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.plasticity import insert_polyline
from crumple.recording import create_recording
from crumple.shapes.pouch import pouch
from crumple.shapes.sheets import cylinder, disk, rectangle
from crumple.state import State, initial_state

FRAMES = 5
FRAME_TIME = 0.04
WIDTH, HEIGHT = 0.2, 0.3
CREASE = ((0.0, 0.1), (WIDTH, 0.14))
NAMES = ["page", "sheet_1", "sheet_2", "bag"]
SCENE = "[[sheets]]\nname = 'page'\n[[sheets]]\n[[sheets]]\n[[sheets]]\nname = 'bag'\n"


def lift(u: np.ndarray, time: float) -> np.ndarray:
    """Height of the point `u` of a flat sheet [m]: waves that grow, nowhere one above the other."""
    return 0.2 * time * (np.sin(9.0 * u[:, 0]) + u[:, 1])


def page_positions(u: np.ndarray, time: float) -> np.ndarray:
    """Where the points `u` of the page are [m], (n, 3): it slides aside, is sheared, and becomes wavy."""
    return np.column_stack([u[:, 0] + time * (0.3 + 0.5 * u[:, 1]), u[:, 1], lift(u, time)])


def changing_state(frame: int) -> State:
    """The sheets in a frame, each on a mesh that belongs to it alone."""
    size, time = 0.03 - 0.003 * frame, FRAME_TIME * frame
    page, flat = rectangle(WIDTH, HEIGHT, size, kind="delaunay", seed=frame)
    creased = insert_polyline(page, np.array(CREASE), label=7)
    page, flat = creased.mesh, creased.change.node_operator @ flat
    coaster, round_x = disk(0.08, 0.02 - 0.002 * frame)
    tube, tube_x = cylinder(0.2, 0.1, divisions=(12 + 2 * frame, 5 + frame))
    bag, bag_x = pouch(np.array([[0, 0], [0.1, 0], [0.1, 0.08], [0, 0.08]]), [2], 0.01, size)
    mesh, start = concatenate([page, coaster, tube, bag])
    x = np.concatenate(
        [
            page_positions(flat[:, :2], time),
            np.column_stack([round_x[:, :2] + [0.5, 0.1], lift(round_x[:, :2], time)]),
            tube_x * [1.0, 1.0, 1.0 + time] + [0.5, 0.3, 0.0],
            bag_x + np.array([0.0, 0.35, time]),
        ]
    )
    block = sample_model().obstacle_positions(0.0) + np.array([0.0, -0.2, time])
    state = initial_state(mesh, x, v=np.sin(100.0 * x), obstacle_x=block, obstacle_count=1)
    assert start[-1] == mesh.node_count
    damage = mesh.u[mesh.faces].mean(axis=1)[:, 0]
    return state.replaced(damage=damage, time=time, frame=frame, steps=2 * frame)


def make_changing_recording(folder: Path, model: Model | None = None) -> Path:
    """A recording of the frames; two steps to each, as a run tells them. The obstacle is that of `model`."""
    model = model or sample_model()
    with create_recording(folder, SCENE) as recorder:
        for frame in range(FRAMES):
            state = changing_state(frame)
            if frame == 0:
                recorder.on_start(model, state)
                continue
            for time in (state.time - FRAME_TIME / 2, state.time):
                recorder.on_step(model, state.replaced(time=time, frame=frame - 1), step_report(time))
            recorder.on_frame(model, state, frame_report(state))
    return folder


def one_sheet(mesh: SheetMesh, sheet: int) -> tuple[np.ndarray, np.ndarray]:
    """The vertices and faces of a sheet, numbers within all."""
    faces = mesh.faces[mesh.face_sheet == sheet]
    return np.unique(faces), faces


def corner_rows(x: np.ndarray, texture: np.ndarray) -> np.ndarray:
    """Faces as rows of numbers that do not depend on how points, corners and faces are numbered.

    `x` (face_count, 3, 3) positions and `texture` (face_count, 3, 2) at the corners. Each row starts with the least of
    its corners, the order around the face is kept, and the rows are sorted.
    """
    rows = np.round(np.concatenate([x, texture], axis=2), 5) + 0.0
    first = np.array([min(range(3), key=lambda k: tuple(row[k])) for row in rows])
    turned = rows[np.arange(len(rows))[:, None], (first[:, None] + np.arange(3)) % 3].reshape(len(rows), -1)
    return turned[np.lexsort(turned.T[::-1])]
