"""Writes a dataset: one HDF5 file that is either complete or absent, and its datasheet beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import h5py
import numpy as np

import crumple
from crumple.export.clip import finest_frame, parse_frames
from crumple.export.resample import Resampler
from crumple.mesh.texture import pattern_boxes
from crumple.model.model import Model
from crumple.recording.files import TEMPORARY_SUFFIX, StorageError, sync_folder, write_atomically
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.state import State
from crumple.studies.datasets.datasheet import describe_dataset
from crumple.studies.datasets.lenient_file import LenientFile
from crumple.studies.datasets.run_writer import RunWriter
from crumple.studies.datasets.sampling import Sample, sample_state
from crumple.studies.datasets.sources import Source, find_sources

FORMAT = 1
"""Raised when an old reader would misunderstand a new file."""
TOPOLOGIES = ("changing", "constant")
PRECISIONS = {"single": np.float32, "double": np.float64}
SUFFIXES = (".h5", ".hdf5")

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
    with LenientFile(temporary) as disk:
        try:
            with h5py.File(disk, "w", libver=("v108", "v110")) as file:
                file.attrs["crumple_dataset"] = FORMAT
                file.attrs["crumple_version"] = crumple.__version__
                file.attrs["topology"] = "changing" if resampler is None else "constant"
                file.attrs["units"] = "SI: m, s, kg, N"
                facts = []
                for number, (source, frames) in enumerate(zip(sources, chosen, strict=True)):
                    writer = RunWriter(file.create_group(f"runs/{number:06d}"), source, precision)
                    for sample in _samples(source.recording, writer.model, frames, resampler, contacts):
                        writer.add(sample)
                        if disk.error is not None:
                            raise disk.error
                        done += 1
                        if progress:
                            progress(done, total)
                    facts.append(writer.close())
                text = describe_dataset(facts, constant=resampler is not None, contacts=contacts, precision=precision)
                file.create_dataset("datasheet", data=text)
            disk.settle()
            write_atomically(datasheet_path(path), text.encode())
        except BaseException as error:
            disk.close()
            temporary.unlink(missing_ok=True)
            if isinstance(error, OSError):
                remedy = "nothing was written; free some space or choose another place"
                raise StorageError(path, error, remedy) from None
            raise
    os.replace(temporary, path)
    sync_folder(path.parent)


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
