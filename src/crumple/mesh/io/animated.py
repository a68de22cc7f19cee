"""Surfaces that move, out of OpenUSD and Alembic files: what other programs have animated, as obstacles.

Files are read as they are meant: metres, z up here, whatever units and axes they have; polygons are cut into triangles.
A process of its own does it, because the libraries of these formats, which are not ours, crash on some damaged files.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crumple.mesh.io.obj_polygon import MOST_CORNERS, are_convex, cut_polygon
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package
from crumple.runtime.reading import check_regular
from crumple.runtime.typing import Floats, Ints

REFUSED = 3
"""The exit code of the process that reads, when it has found out what is wrong with a file."""
MOST_NUMBERS = 10**8
"""Of coordinates of one animation, 800 MB."""
READERS = {
    ".usd": ("usd", "pxr"),
    ".usda": ("usd", "pxr"),
    ".usdc": ("usd", "pxr"),
    ".usdz": ("usd", "pxr"),
    ".abc": ("abc", "alembic3d"),
}
"""The module that reads files with each ending, `crumple.mesh.io.NAME_animation`, and the package that it needs."""


@dataclass(frozen=True)
class Animation:
    """A surface in time: `faces` (m, 3), `shapes` (k, n, 3) [m] at `times` (k,) [s]."""

    faces: Ints
    shapes: Floats
    times: Floats


@dataclass(frozen=True)
class Polygons:
    """What a file says of a mesh: corners per polygon `counts` (p,), the `corners` one after the other, and the
    points (n, 3) by time [s] in `points`."""

    counts: Ints
    corners: Ints
    points: Callable[[float], Floats]
    times: Sequence[float]


def read_animation(path: str | Path, name: str | None = None, up: str | None = None) -> Animation:
    """The mesh called `name` in a USD or Alembic file, or the only one, z up and in metres.

    `up`: "y" or "z", where the file does not say it, or not rightly. Errors name file, meshes and remedy.
    """
    file = Path(path)
    if file.suffix.lower() not in READERS:
        raise InputError(file.name, f"must be a file with one of the endings {', '.join(READERS)}")
    try:
        check_regular(file)
    except OSError as error:
        raise InputError(file.name, f"cannot be read: {error.strerror}") from None
    _, package = READERS[file.suffix.lower()]
    load_package(package, file.name)
    child = subprocess.run(
        [sys.executable, "-m", __name__, str(file), json.dumps([name, up])], capture_output=True, check=False
    )
    if child.returncode == REFUSED:
        raise InputError(*json.loads(child.stdout))
    if child.returncode != 0:
        raise InputError(file.name, "is damaged, or of a kind that its library cannot read")
    with np.load(io.BytesIO(child.stdout), allow_pickle=False) as arrays:
        return Animation(arrays["faces"], arrays["shapes"], arrays["times"])


def read_here(path: Path, name: str | None, up: str | None) -> Animation:
    """`read_animation` in this process, which some damaged files crash."""
    module, _ = READERS[path.suffix.lower()]
    reader: Any = load_package(f"crumple.mesh.io.{module}_animation", path.name, module)
    meshes: dict[str, Callable[[str | None], Polygons]] = reader.find_meshes(path)
    return _animation(path.name, meshes[_chosen(path.name, list(meshes), name)](up))


def z_up(points: Floats) -> Floats:
    """Points (n, 3) of a file whose y points up."""
    return np.ascontiguousarray(points[:, [0, 2, 1]] * [1.0, -1.0, 1.0])


def _chosen(place: str, names: list[str], name: str | None) -> str:
    """The mesh with this path, or the only one whose last part is that name."""
    found = [one for one in names if name is None or one == name or one.rsplit("/", 1)[-1] == name]
    if len(found) == 1:
        return found[0]
    if not names:
        raise InputError(place, "holds no mesh")
    listed = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise InputError(f"{place}: object", f"must be one of {listed}", name)


def _animation(place: str, mesh: Polygons) -> Animation:
    times = sorted(set(mesh.times)) or [0.0]
    first = _checked(place, mesh.points(times[0]), None)
    if len(times) * first.size > MOST_NUMBERS:
        raise InputError(place, f"has {len(times)} samples of {len(first)} points, which is too much")
    faces = _triangles(place, mesh, first)
    used = np.unique(faces)
    number = np.full(len(first), -1, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    shapes = np.stack([_checked(place, mesh.points(time), first)[used] for time in times])
    return Animation(number[faces], shapes, np.array(times, np.float64))


def _checked(place: str, points: Floats, first: Floats | None) -> Floats:
    """Points (n, 3), as many as in the first sample, all of them finite."""
    if first is not None and len(points) != len(first):
        remedy = "has another number of points in the course of time; an obstacle must keep its faces"
        raise InputError(place, remedy)
    if not np.isfinite(points).all():
        raise InputError(place, "has a point that is not finite")
    return points


def _triangles(place: str, mesh: Polygons, x: Floats) -> Ints:
    """Polygons cut into triangles in their first pose."""
    counts, corners = mesh.counts, mesh.corners
    if counts.sum() != len(corners) or len(corners) == 0:
        raise InputError(place, "has no faces, or other ones than it says")
    if corners.min() < 0 or corners.max() >= len(x) or counts.min() < 3 or counts.max() > MOST_CORNERS:
        raise InputError(place, f"has a face without a point of its own, or not of 3 to {MOST_CORNERS} corners")
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    fans = [corners[first[counts == 3][:, None] + np.arange(3)]]
    quads = corners[first[counts == 4][:, None] + np.arange(4)]
    convex = are_convex(x[quads]) if len(quads) else np.zeros(0, bool)
    fans += [quads[convex][:, [0, 1, 2]], quads[convex][:, [0, 2, 3]]]
    rest = [*quads[~convex], *(corners[k : k + n] for k, n in zip(first, counts, strict=True) if n > 4)]
    for polygon in rest:
        cut = cut_polygon(x[polygon])
        if cut is None:
            raise InputError(place, f"has a face that crosses itself, with the points {polygon.tolist()[:8]}")
        fans.append(polygon[cut])
    faces = np.concatenate(fans).astype(np.int32)
    if (faces == np.roll(faces, -1, axis=1)).any():
        raise InputError(place, "has a face that uses a point twice")
    return faces


def _main(path: str, wishes: str) -> int:
    """Read a file and write what was found to standard output, where nothing else must come from the libraries."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        read = read_here(Path(path), *json.loads(wishes))
    except InputError as error:
        answer.write(json.dumps([error.place, error.remedy, *error.values]).encode())
        answer.close()
        return REFUSED
    kept = io.BytesIO()
    np.savez(kept, faces=read.faces, shapes=read.shapes, times=read.times)
    answer.write(kept.getvalue())
    answer.close()
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
