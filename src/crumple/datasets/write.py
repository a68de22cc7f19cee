"""Writes a dataset: one HDF5 file that is either complete or absent, and its datasheet beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from crumple.datasets.datasheet import RunFacts, describe_dataset
from crumple.datasets.sampling import Sample, sample_state, transfer_operator
from crumple.datasets.sources import Source, find_sources
from crumple.errors import InputError
from crumple.export.clip import finest_frame, parse_frames
from crumple.export.resample import Resampler
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.texture import pattern_boxes
from crumple.recording.files import TEMPORARY_SUFFIX, StorageError, sync_folder, write_atomically
from crumple.recording.obstacles import obstacle_surface
from crumple.recording.recording import Recording
from crumple.scenes import build
from crumple.simulation.model import Model
from crumple.state import State

FORMAT = 1
"""Raised when an old reader would misunderstand a new file."""
TOPOLOGIES = ("changing", "constant")
PRECISIONS = {"single": np.float32, "double": np.float64}
SUFFIXES = (".h5", ".hdf5")
CHUNK = 2048
"""Rows of an array that are compressed together."""
PACKED = {"compression": "gzip", "compression_opts": 4, "shuffle": True}
MESH_FIELDS = ("u", "faces", "vertex_node", "face_sheet", "face_material", "edge_label")
KINDS = ("node", "face", "pin", "contact")

Progress = Callable[[int, int], None]
"""Called with the number of finished frames and of all."""


def write_dataset(
    sources: str | Path | Sequence[str | Path],
    path: str | Path,
    *,
    frames: str | None = None,
    topology: str = "changing",
    contacts: bool | None = None,
    precision: str = "single",
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write the frames of recordings and sweeps into one HDF5 file at `path`, and its datasheet beside it.

    `frames`: a frame such as "12" or "-1", or "first:last:step", of every run; all by default.
    `topology`: "changing", each frame's own mesh with operators between those that differ, or "constant", all frames
    of all runs on one mesh, the finest.  `contacts`: whether to keep the pairs in contact; by default with changing
    topology, as they belong to the meshes of the frames.  `precision`: "single" or "double".
    `force`: replace a file that is there.
    """
    place = _check_output(Path(path), force)
    for option, value, known in (("topology", topology, TOPOLOGIES), ("precision", precision, tuple(PRECISIONS))):
        if value not in known:
            raise InputError(f"dataset --{option}", f"must be {' or '.join(known)}", value)
    if topology == "constant" and contacts:
        raise InputError("dataset --contacts", "contacts belong to each frame's own mesh; use --topology changing")
    found = find_sources([sources] if isinstance(sources, str | Path) else list(sources))
    chosen = [parse_frames(source.recording, frames, "dataset --frames") for source in found]
    for source in found:
        if place.absolute().is_relative_to(source.recording.path.absolute()):
            raise InputError("dataset --output", "lies in a recording; choose a place outside of it", str(path))
    resampler = _one_resampler(found, chosen) if topology == "constant" else None
    with_contacts = resampler is None if contacts is None else contacts
    _write(place, found, chosen, resampler, with_contacts, PRECISIONS[precision], progress)
    return place


def _check_output(path: Path, force: bool) -> Path:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError("dataset --output", f"must end in {' or '.join(SUFFIXES)}", str(path))
    for place in (path, datasheet_path(path)):
        if place.is_dir() or (place.exists() and not force):
            raise InputError("dataset --output", "is there already; --force replaces it", str(place))
    return path


def datasheet_path(path: Path) -> Path:
    """Where the datasheet of the dataset at `path` is written."""
    return path.with_suffix(".datasheet.md")


def _write(
    path: Path,
    sources: list[Source],
    chosen: list[list[int]],
    resampler: Resampler | None,
    contacts: bool,
    precision: type,
    progress: Progress | None,
) -> None:
    """Write everything into a temporary file, which gets its name when it is complete."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    done, total = 0, sum(map(len, chosen))
    begun = _create(temporary)
    try:
        with begun as file:
            file.attrs["crumple_dataset"] = FORMAT
            file.attrs["crumple_version"] = version("crumple")
            file.attrs["topology"] = "changing" if resampler is None else "constant"
            file.attrs["units"] = "SI: m, s, kg, N"
            facts = []
            for number, (source, frames) in enumerate(zip(sources, chosen, strict=True)):
                writer = RunWriter(file.create_group(f"runs/{number:06d}"), source, precision)
                for sample in _samples(source.recording, writer.model, frames, resampler, contacts):
                    writer.add(sample)
                    done += 1
                    if progress:
                        progress(done, total)
                facts.append(writer.close())
            text = describe_dataset(facts, constant=resampler is not None, contacts=contacts, precision=precision)
            file.create_dataset("datasheet", data=text)
        _make_durable(temporary)
        write_atomically(datasheet_path(path), text.encode())
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise StorageError(path, error, "nothing was written; free some space or choose another place") from None
    finally:
        temporary.unlink(missing_ok=True)


def _create(path: Path) -> h5py.File:
    """A new HDF5 file for writing; one that another process is writing stays as it is."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return h5py.File(path, "w", libver=("v108", "v110"))
    except OSError as error:
        remedy = "cannot be written: is the folder writable, is another process writing this dataset?"
        raise StorageError(path, error, remedy) from None


def _make_durable(path: Path) -> None:
    """The content is on the disk before the file gets its name."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _samples(
    recording: Recording, model: Model, frames: list[int], resampler: Resampler | None, contacts: bool
) -> Iterator[Sample]:
    for frame in frames:
        yield sample_state(model, recording.load(frame), resampler=resampler, contacts=contacts)


def _one_resampler(sources: list[Source], chosen: list[list[int]]) -> Resampler:
    """Onto the finest mesh of all; `InputError` unless all runs have the same patterns."""
    finest: State | None = None
    boxes = None
    for source, frames in zip(sources, chosen, strict=True):
        state = source.recording.load(finest_frame(source.recording, frames))
        mine = pattern_boxes(state.mesh)
        if boxes is not None and (mine.shape != boxes.shape or not np.allclose(mine, boxes, rtol=1e-6, atol=1e-9)):
            remedy = f"its sheets are not those of {sources[0].name}: one topology needs one pattern; use changing"
            raise InputError(str(source.recording.path), remedy)
        boxes = mine if boxes is None else boxes
        finest = state if finest is None or state.mesh.face_count > finest.mesh.face_count else finest
    assert finest is not None
    return Resampler(finest.mesh)


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
            self._group.create_dataset("scene", data=recording.scene_path.read_text(encoding="utf-8"))
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
            self._group.create_dataset(
                name, shape, values.dtype, maxshape=(None, *values.shape[1:]), chunks=chunks, **PACKED
            )
        array = self._group[name]
        count = len(array)
        array.resize(count + len(values), axis=0)
        if len(values):
            array[count:] = values


def _model_of(recording: Recording) -> Model:
    """The model of a recording, from its scene if it is not stored."""
    model = recording.present_model()
    if model is None and recording.scene_path.is_file():
        return build(recording.scene_path)[0]
    return recording.model() if model is None else model


def _is_same(one: SheetMesh, other: SheetMesh) -> bool:
    """Whether two meshes have the same faces, corner for corner, and the same pattern."""
    return one is other or all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("faces", "vertex_node", "u")
    )


def _cast(values: np.ndarray, precision: type) -> np.ndarray:
    return values.astype(precision) if values.dtype.kind == "f" else values
