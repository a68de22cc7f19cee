"""Adds the frames of one run to a dataset."""

from __future__ import annotations

import json
from typing import Any

import h5py
import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.recording.files import read_text_file
from crumple.recording.obstacles import obstacle_surface
from crumple.recording.recording import Recording
from crumple.scenes import build
from crumple.studies.datasets.datasheet import RunFacts
from crumple.studies.datasets.sampling import Sample, transfer_operator
from crumple.studies.datasets.sources import Source

CHUNK = 2048
"""Rows of an array that are compressed together."""
PACKED = {"compression": "gzip", "compression_opts": 4, "shuffle": True}
MESH_FIELDS = ("u", "faces", "vertex_node", "face_sheet", "face_material", "edge_label")


class RunWriter:
    """Adds the samples of one run to its `group`.

    Arrays of all frames are laid one after the other; `node_start` (frame_count + 1) and so on say where each begins.
    """

    def __init__(self, group: h5py.Group, source: Source, precision: type) -> None:
        self.model = _model_of(source.recording)
        self._group, self._source, self._precision = group, source, precision
        self._starts: dict[str, list[int]] = {}
        self._series: dict[str, list[Any]] = {"time": [], "frame": [], "mesh": [], "handle": [], "obstacle": []}
        self._mesh: SheetMesh | None = None
        self._counts: list[tuple[int, int]] = []
        self._transfers: list[int] = []
        self._obstacles: np.ndarray | None = None
        self._describe()

    def add(self, sample: Sample) -> None:
        """Append a frame."""
        self._add_mesh(sample.mesh)
        for kind, columns in sample.columns.items():
            starts = self._starts.setdefault(kind, [0])
            for name, values in columns.items():
                self._append(name if kind in ("node", "face") else f"{kind}_{name}", values)
            starts.append(starts[-1] + len(next(iter(columns.values()))))
        self._add_obstacles(sample)
        self._series["time"].append(sample.time)
        self._series["frame"].append(sample.frame)
        self._series["handle"].append(sample.handles)
        self._counts.append((sample.mesh.node_count, sample.mesh.face_count))

    def close(self) -> RunFacts:
        """Write what is known at the end only, and return what the datasheet tells."""
        put = self._group.create_dataset
        put("time", data=np.array(self._series["time"], np.float64))
        put("frame", data=np.array(self._series["frame"], np.int64))
        put("frame_mesh", data=np.array(self._series["mesh"], np.int32))
        put("frame_obstacle", data=np.array(self._series["obstacle"], np.int32))
        put("handle_position", data=np.array(self._series["handle"], self._precision))
        put("transfer_frame", data=np.array(self._transfers, np.int32))
        for kind, starts in self._starts.items():
            put(f"{kind}_start", data=np.array(starts, np.int64))
        contacts = self._starts.get("contact", [0])[-1]
        return RunFacts(self._source, self.model, self._series["time"], self._counts, len(self._transfers), contacts)

    def _describe(self) -> None:
        """Names and what is constant."""
        attrs, model, recording = self._group.attrs, self.model, self._source.recording
        attrs["name"] = self._source.name
        attrs["parameters"] = json.dumps(self._source.parameters)
        attrs["sheets"] = json.dumps(model.sheet_names)
        attrs["handles"] = json.dumps([handle.name for handle in model.handles])
        attrs["obstacles"] = json.dumps([obstacle.name for obstacle in model.obstacles])
        attrs["materials"] = json.dumps([material.name for material in model.materials])
        if recording.scene_path.is_file():
            self._group.create_dataset("scene", data=read_text_file(recording.scene_path))
        surface = obstacle_surface(model)
        self._group.create_dataset("obstacle_faces", data=surface.faces)
        self._group.create_dataset("obstacle_node_part", data=surface.node_obstacle)

    def _add_mesh(self, mesh: SheetMesh) -> None:
        """Write a mesh that is another than the one before, with the operators between the two."""
        before = self._mesh
        if before is None or not _is_same(before, mesh):
            number = len(self._group["meshes"]) if "meshes" in self._group else 0
            folder = self._group.create_group(f"meshes/{number:06d}")
            for name in MESH_FIELDS:
                values = getattr(mesh, name)
                folder.create_dataset(name, data=_cast(values, self._precision), chunks=True, **PACKED)
            if before is not None:
                self._transfers.append(len(self._series["mesh"]))
                self._add_operator("forward", before, mesh)
                self._add_operator("backward", mesh, before)
            self._mesh = mesh
        self._series["mesh"].append(len(self._group["meshes"]) - 1)

    def _add_operator(self, name: str, source: SheetMesh, target: SheetMesh) -> None:
        matrix = transfer_operator(source, target).tocoo()
        for part, values in (("row", matrix.row), ("column", matrix.col), ("weight", matrix.data)):
            self._append(f"{name}_{part}", values.astype(np.int32) if part != "weight" else values)
        starts = self._starts.setdefault(name, [0])
        starts.append(starts[-1] + matrix.nnz)

    def _add_obstacles(self, sample: Sample) -> None:
        """Write where the obstacles are if they moved."""
        if self._obstacles is None or not np.array_equal(self._obstacles, sample.obstacle_x):
            self._append("obstacle_x", sample.obstacle_x[None])
            self._obstacles = sample.obstacle_x
        self._series["obstacle"].append(len(self._group["obstacle_x"]) - 1)

    def _append(self, name: str, values: np.ndarray) -> None:
        """Lay rows behind those that are there."""
        values = _cast(values, self._precision)
        if name not in self._group:
            rows = max(1, min(CHUNK, CHUNK * 4 // max(1, int(np.prod(values.shape[1:])))))
            shape = (0, *values.shape[1:])
            chunks = (rows, *(max(1, n) for n in values.shape[1:]))
            most = (None, *(n or None for n in values.shape[1:]))  # HDF5 has no chunks where nothing may ever be
            self._group.create_dataset(name, shape, values.dtype, maxshape=most, chunks=chunks, **PACKED)
        array = self._group[name]
        count = len(array)
        array.resize(count + len(values), axis=0)
        if len(values):
            array[count:] = values


def _model_of(recording: Recording) -> Model:
    """The model of a recording, from its scene if it is not stored."""
    model = recording.present_model()
    if model is None and recording.scene_path.is_file():
        return build(recording.scene_path).model
    return recording.model() if model is None else model


def _is_same(one: SheetMesh, other: SheetMesh) -> bool:
    """Whether two meshes have the same faces, corner for corner, and the same pattern."""
    return one is other or all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("faces", "vertex_node", "u")
    )


def _cast(values: np.ndarray, precision: type) -> np.ndarray:
    return values.astype(precision) if values.dtype.kind == "f" else values
