"""Meshes of Alembic files in time (needs the package alembic3d)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alembic3d import Abc, AbcGeom

from crumple.mesh.io.animated import Polygons, z_up
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

STILL = 1
"""Samples of what does not move."""


def find_meshes(path: Path) -> dict[str, Callable[[str | None], Polygons]]:
    """All polygon meshes of a file by their full names, each as a function that reads it."""
    try:
        archive = Abc.IArchive(str(path))
        found = list(_meshes(archive.getTop(), ()))
    except RuntimeError:
        raise InputError(path.name, "is no Alembic file, or damaged") from None
    return {mesh.getFullName(): partial(_read, path.name, archive, mesh, above) for mesh, above in found}


def _meshes(node: Any, above: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Meshes below an object with the transforms above each, the outermost first."""
    for child in node.children:
        header = child.getHeader()
        if AbcGeom.IPolyMesh.matches(header):
            yield AbcGeom.IPolyMesh(node, header.getName()), above
        elif AbcGeom.IXform.matches(header):
            transform = AbcGeom.IXform(node, header.getName())
            yield from _meshes(transform, (*above, transform.getSchema()))
        else:
            yield from _meshes(child, above)


def _read(place: str, archive: Any, mesh: Any, above: tuple[Any, ...], up: str | None) -> Polygons:
    """`archive` is held on to: nothing can be read without it."""
    try:
        return _polygons(place, archive, mesh, above, up)
    except RuntimeError:
        raise InputError(place, "is damaged") from None


def _polygons(place: str, archive: Any, mesh: Any, above: tuple[Any, ...], up: str | None) -> Polygons:
    schema = mesh.getSchema()
    if schema.getTopologyVariance() == AbcGeom.MeshTopologyVariance.kHeterogenousTopology:
        raise InputError(place, "has other faces in the course of time; an obstacle must keep them", mesh.getFullName())
    sample = schema.getValue()
    counts, corners = (np.array(values, np.int32) for values in (sample.getFaceCounts(), sample.getFaceIndices()))
    if len(counts) and counts.sum() == len(corners):
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        corners = np.concatenate([corners[k : k + n][::-1] for k, n in zip(first, counts, strict=True)])
    moving = [one for one in (schema, *above) if one.getNumSamples() > STILL]
    times = {one.getTimeSampling().getSampleTime(k) for one in moving for k in range(one.getNumSamples())}
    return Polygons(counts, corners, partial(_points, archive, schema, above, (up or "y") == "y"), sorted(times))


def _points(archive: Any, schema: Any, above: tuple[Any, ...], is_y_up: bool, time: float) -> Floats:
    """World positions (n, 3) [m] at a time [s]."""
    x = _at(schema, time, lambda sample: np.array(memoryview(sample.getPositions()), np.float64).reshape(-1, 3))
    for transform in reversed(above):
        matrix = _at(transform, time, lambda sample: np.array([list(row) for row in sample.getMatrix()]))
        x = x @ matrix[:3, :3] + matrix[3, :3]
    return z_up(x) if is_y_up else x


def _at(schema: Any, time: float, value: Callable[[Any], Floats]) -> Floats:
    """The value of a schema at a time [s], linear between its samples."""
    count, sampling = schema.getNumSamples(), schema.getTimeSampling()
    times = [sampling.getSampleTime(k) for k in range(count)]
    last = int(np.clip(np.searchsorted(times, time), 0, count - 1))
    after = value(_sample(schema, times[last]))
    if last == 0 or times[last] <= time:
        return after
    share = (time - times[last - 1]) / (times[last] - times[last - 1])
    return (1.0 - share) * value(_sample(schema, times[last - 1])) + share * after


def _sample(schema: Any, time: float) -> Any:
    """The sample that was taken at a time [s]; an index would be taken for a time by these bindings."""
    return schema.getValue(Abc.ISampleSelector(float(time), Abc.ISampleSelector.TimeIndexType.kNearIndex))
