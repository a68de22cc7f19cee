"""Alembic: all frames in one file (needs the package alembic3d, an unofficial build of the official bindings)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import imath
import numpy as np
from alembic3d import Abc, AbcCoreAbstract, AbcGeom

from crumple.export.clip import Clip
from crumple.export.surface import Surface


def write_alembic(clip: Clip, path: Path) -> None:
    """Write the clip: metres, y up as Alembic's readers expect, samples at the times of the frames [s].

    Alembic ends the process when it cannot write: where the system has files in memory (Linux), it gets one of these.
    """
    if not hasattr(os, "memfd_create"):
        return _write_archive(clip, str(path))
    with os.fdopen(os.memfd_create("crumple.abc"), "rb") as memory:
        _write_archive(clip, f"/proc/self/fd/{memory.fileno()}")
        with path.open("xb") as file:
            shutil.copyfileobj(memory, file)


def _write_archive(clip: Clip, path: str) -> None:
    """Let Alembic write to the file at `path`; it is complete when this ends, for nothing refers to it any more."""
    archive = Abc.OArchive(path)
    archive.addTimeSampling(_sampling(clip))
    top = archive.getTop()
    names = clip.sheet_names
    sheets = [AbcGeom.OPolyMesh(top, _plain(name), 1) for name in names]
    solids: dict[int, Any] = {}
    for snapshot in clip:
        for mesh, surface in zip(sheets, snapshot.surface.sheets(len(names)), strict=True):
            mesh.getSchema().set(_sheet_sample(surface))
        for index, solid in enumerate(snapshot.solids):
            if index not in solids:
                name = _plain(solid.name)
                taken = {_plain(other) for other in names} | {s.getName() for s in solids.values()}
                solids[index] = AbcGeom.OPolyMesh(top, name if name not in taken else f"{name}_{index}", 1)
            solids[index].getSchema().set(_solid_sample(solid.points, solid.faces))


def _sampling(clip: Clip) -> Any:
    """Evenly spaced times where they are, else each by itself."""
    times = clip.times
    spacing = np.diff(times)
    if len(spacing) == 0 or np.allclose(spacing, spacing[0], rtol=1e-6):
        return AbcCoreAbstract.TimeSampling(float(spacing[0]) if len(spacing) else 1.0 / clip.rate, float(times[0]))
    stamps = AbcCoreAbstract.TimeVector()
    for time in times:
        stamps.append(float(time))
    kind = AbcCoreAbstract.TimeSamplingType(AbcCoreAbstract.AcyclicFlag.kAcyclic)
    return AbcCoreAbstract.TimeSampling(kind, stamps)


def _sheet_sample(surface: Surface) -> Any:
    """Points, faces, velocities; texture coordinates and normals per corner, indexed."""
    mesh, corners = surface.mesh, AbcGeom.GeometryScope.kFacevaryingScope
    texture = AbcGeom.OV2fGeomParamSample(_pairs(surface.texture), _unsigned(_corners(mesh.faces)), corners)
    normals = AbcGeom.ON3fGeomParamSample(
        _triples(surface.normals), _unsigned(_corners(surface.corner_groups)), corners
    )
    sample = AbcGeom.OPolyMeshSchemaSample(
        _triples(surface.x), _ints(_corners(mesh.face_nodes)), _ints(np.full(mesh.face_count, 3)), texture, normals
    )
    sample.setVelocities(_triples(surface.v))
    return sample


def _solid_sample(points: np.ndarray, faces: np.ndarray) -> Any:
    return AbcGeom.OPolyMeshSchemaSample(_triples(points), _ints(_corners(faces)), _ints(np.full(len(faces), 3)))


def _corners(faces: np.ndarray) -> np.ndarray:
    """The corners of faces in Alembic's order, which is clockwise."""
    return faces[:, ::-1].ravel()


def _plain(name: str) -> str:
    """A name without the slash that separates the parts of a path."""
    return name.replace("/", "_")


def _triples(rows: np.ndarray) -> Any:
    """Vectors (n, 3) with y up instead of z."""
    turned = rows[:, [0, 2, 1]] * [1.0, 1.0, -1.0]
    return imath.V3fArrayFromBuffer(np.ascontiguousarray(turned, np.float32))


def _pairs(rows: np.ndarray) -> Any:
    return imath.V2fArrayFromBuffer(np.ascontiguousarray(rows, np.float32))


def _ints(values: np.ndarray) -> Any:
    return imath.IntArrayFromBuffer(np.ascontiguousarray(values, np.int32))


def _unsigned(values: np.ndarray) -> Any:
    """Indices; by way of doubles, the only arrays that both sides know and that hold every index exactly."""
    return imath.UnsignedIntArray(imath.DoubleArrayFromBuffer(np.ascontiguousarray(values, np.float64)))
