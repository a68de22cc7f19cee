"""Reads datasets, in NumPy: nothing is loaded before it is asked for.

>>> import crumple                                    # doctest: +SKIP
>>> with crumple.load_dataset("folds.h5") as data:    # doctest: +SKIP
...     for run in data:
...         for now, then in run.pairs():
...             train(now.x, run.action(now.index), then.x)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy.sparse import csr_matrix, identity

from crumple.recording.plain_hdf import child
from crumple.recording.vtkhdf import BROKEN
from crumple.runtime.errors import InputError
from crumple.runtime.reading import check_regular
from crumple.runtime.typing import Floats, Ints
from crumple.studies.datasets.packed_hdf import packed_array

FORMAT = 1


@dataclass(frozen=True)
class Mesh:
    """`u` (vertex_count, 2) pattern [m];  `faces` (face_count, 3) vertices;  `vertex_node` (vertex_count,);
    `face_sheet`, `face_material` (face_count,);  `edge_label` (face_count, 3), 0 = no crease."""

    u: Floats
    faces: Ints
    vertex_node: Ints
    face_sheet: Ints
    face_material: Ints
    edge_label: Ints

    @cached_property
    def node_count(self) -> int:
        return int(self.vertex_node.max()) + 1

    @cached_property
    def face_nodes(self) -> Ints:
        """Nodes of each face, (face_count, 3)."""
        return self.vertex_node[self.faces]

    @cached_property
    def edges(self) -> Ints:
        """Pairs of nodes that an edge joins, each once, (edge_count, 2)."""
        corners = self.face_nodes
        pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        return np.unique(np.sort(pairs, axis=1), axis=0)

    @cached_property
    def node_u(self) -> Floats:
        """Pattern coordinates of the nodes [m], (node_count, 2); of one of its vertices on a seam."""
        u = np.zeros((self.node_count, 2), self.u.dtype)
        u[self.vertex_node[::-1]] = self.u[::-1]
        return u


@dataclass(frozen=True)
class Pinned:
    """Held nodes: `node`, `handle` (m,), `target` (m, 3) where the handle wants them [m]."""

    node: Ints
    handle: Ints
    target: Floats


@dataclass(frozen=True)
class Contacts:
    """Pairs in contact: `nodes` (n, 4) node and face, or two edges where `is_edges` (n,); nodes of obstacles are
    numbered after those of the sheets. `weight` (n, 4): Σ w x is the vector between the closest points, whose length is
    `distance` (n,) [m];  `force` (n, 3) normal force on the first side [N]."""

    nodes: Ints
    is_edges: np.ndarray
    weight: Floats
    distance: Floats
    force: Floats


@dataclass(frozen=True)
class Frame:
    """One instant of a run: `x`, `v` (node_count, 3) [m, m/s];  `damage` (face_count,), `plastic_curvature`
    (face_count, 3) [1/m];  `handle_position` (handle_count, 3) [m];  `obstacle_x` (…, 3) [m];
    `contacts` None where the dataset has none."""

    index: int
    time: float
    mesh: Mesh
    x: Floats
    v: Floats
    damage: Floats
    plastic_curvature: Floats
    pins: Pinned
    handle_position: Floats
    obstacle_x: Floats
    contacts: Contacts | None


class Run:
    """One run of a dataset; `run[k]` is its frame number k, `len(run)` the number of frames."""

    def __init__(self, group: h5py.Group) -> None:
        self._group = group
        self.name = str(group.attrs["name"])
        self.parameters: dict[str, Any] = json.loads(group.attrs["parameters"])
        self.sheets, self.handles, self.obstacles, self.materials = (
            tuple(json.loads(group.attrs[key])) for key in ("sheets", "handles", "obstacles", "materials")
        )
        self.times: Floats = packed_array(group, "time")[()]
        self._frame_mesh: Ints = packed_array(group, "frame_mesh")[()]
        if self.times.ndim != 1 or self._frame_mesh.shape != self.times.shape:
            raise ValueError("frame_mesh does not name the mesh of each frame")
        changes = packed_array(group, "transfer_frame")[()]
        self._transfers = {int(frame): k for k, frame in enumerate(changes)}
        self._starts = {name[:-6]: packed_array(group, name)[()] for name in group if name.endswith("_start")}
        for name, start in self._starts.items():
            rows = len(changes) if name in OPERATORS else len(self.times)
            if start.shape != (rows + 1,) or start[0] != 0 or (np.diff(start) < 0).any():
                raise ValueError(f"{name}_start does not count the rows of its frames")
        self._meshes: dict[int, Mesh] = {}

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Frame]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: int) -> Frame:
        k = self._index(index)
        mesh = self.mesh(k)
        x, v = self._rows("node", k, "x"), self._rows("node", k, "v")
        damage, curvature = self._rows("face", k, "damage"), self._rows("face", k, "plastic_curvature")
        nodes, faces = mesh.node_count, len(mesh.faces)
        if not (x.shape == v.shape == (nodes, 3) and damage.shape == (faces,) and curvature.shape == (faces, 3)):
            raise self._damaged(f"frame {k}", "its arrays do not fit its mesh")
        with self._reading(f"frame {k}"):
            return Frame(
                index=k,
                time=float(self.times[k]),
                mesh=mesh,
                x=x,
                v=v,
                damage=damage,
                plastic_curvature=curvature,
                pins=Pinned(*(self._rows("pin", k, f"pin_{name}") for name in ("node", "handle", "target"))),
                handle_position=self._array("handle_position")[k],
                obstacle_x=self._array("obstacle_x")[int(self._array("frame_obstacle")[k])],
                contacts=self._contacts(k),
            )

    @property
    def scene(self) -> str | None:
        """The resolved scene as TOML; None when the model was built by hand."""
        with self._reading("scene"):
            return child(self._group, "scene").asstr()[()] if "scene" in self._group else None

    @property
    def is_constant(self) -> bool:
        """Whether all frames have one mesh."""
        return not self._transfers

    @property
    def obstacle_faces(self) -> Ints:
        """Triangles of the obstacles, (…, 3), into `Frame.obstacle_x`."""
        with self._reading("obstacle_faces"):
            return self._array("obstacle_faces")[()]

    def mesh(self, index: int) -> Mesh:
        """The mesh of a frame; the same object for frames that share it."""
        number = int(self._frame_mesh[self._index(index)])
        if number not in self._meshes:
            with self._reading(f"mesh {number}"):
                folder = child(child(self._group, "meshes"), f"{number:06d}")
                mesh = Mesh(**{name: packed_array(folder, name)[()] for name in Mesh.__dataclass_fields__})
                _check_mesh(mesh)
                self._meshes[number] = mesh
        return self._meshes[number]

    def positions(self) -> Floats:
        """Positions of all frames in one array, (frame_count, node_count, 3) [m]; only where there is one mesh."""
        return self._all("x")

    def velocities(self) -> Floats:
        """Velocities of all frames in one array, (frame_count, node_count, 3) [m/s]; only where there is one mesh."""
        return self._all("v")

    def action(self, index: int) -> Floats:
        """How far the handles are moved from frame `index` to the next, (handle_count, 3) [m].

        NaN for a handle that holds nothing in one of them.
        """
        k = self._index(index)
        if k == len(self) - 1:
            raise InputError(f"{self.name}: action", "the last frame has none", index)
        with self._reading("handle_position"):
            places = self._array("handle_position")[k : k + 2]
            return places[1] - places[0]

    def transfer(self, index: int, *, backward: bool = False) -> csr_matrix:
        """The sparse matrix that carries values on the nodes of frame `index` − 1 to those of frame `index`.

        `backward`: from those of frame `index` to those of frame `index` − 1. The identity where the mesh is the same.
        """
        k = self._index(index)
        if k == 0:
            raise InputError(f"{self.name}: transfer", "the first frame has none before it", index)
        shape = tuple(self.mesh(j).node_count for j in ((k - 1, k) if backward else (k, k - 1)))
        if k not in self._transfers:
            if shape[0] != shape[1]:
                raise self._damaged(f"frame {k}", "the operator to its mesh is missing")
            return identity(shape[0], self._rows("node", k, "x").dtype, format="csr")
        name = "backward" if backward else "forward"
        row, column, weight = (self._rows(name, self._transfers[k], f"{name}_{part}") for part in OPERATOR)
        with self._reading(f"{name} operator of frame {k}"):
            return csr_matrix((weight, (row, column)), shape=shape)

    def pairs(self) -> Iterator[tuple[Frame, Frame]]:
        """Each frame with the next one, both on the mesh of the first: what a one-step model learns from.

        Of the second, positions and velocities are carried to the mesh of the first; the rest is its own.
        """
        for k in range(len(self) - 1):
            now, then = self[k], self[k + 1]
            if k + 1 in self._transfers:
                carry = self.transfer(k + 1, backward=True)
                then = Frame(**(vars(then) | {"mesh": now.mesh, "x": carry @ then.x, "v": carry @ then.v}))
            yield now, then

    def _index(self, index: int) -> int:
        count = len(self)
        if not -count <= index < count:
            # IndexError, so that loops over a run end
            raise IndexError(f"{self.name}: frame = {index} (it has {count} frames)")
        return index % count

    def _rows(self, kind: str, k: int, name: str) -> np.ndarray:
        with self._reading(name):
            begin, end = (int(row) for row in self._starts[kind][k : k + 2])
            rows = self._array(name)[begin:end]
            if len(rows) != end - begin:
                raise ValueError("it is too short")
            return rows

    def _array(self, name: str) -> h5py.Dataset:
        return packed_array(self._group, name)

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """What goes wrong inside is the file's fault."""
        try:
            yield
        except InputError:
            raise
        except BROKEN as error:
            raise self._damaged(what, " ".join(str(error).split())[:100]) from None

    def _damaged(self, what: str, reason: str) -> InputError:
        return InputError(f"{self._group.file.filename}: {self.name}, {what}", f"is damaged ({reason})")

    def _all(self, name: str) -> Floats:
        if not self.is_constant:
            raise InputError(f"{self.name}", "its mesh changes; write the dataset with --topology constant")
        with self._reading(name):
            return self._array(name)[()].reshape(len(self), -1, 3)

    def _contacts(self, k: int) -> Contacts | None:
        if "contact" not in self._starts:
            return None
        columns = {name: self._rows("contact", k, f"contact_{name}") for name in Contacts.__dataclass_fields__}
        return Contacts(**columns | {"is_edges": columns["is_edges"].astype(bool)})


def _check_mesh(mesh: Mesh) -> None:
    """ValueError unless indices point at something."""
    vertices, faces = len(mesh.u), len(mesh.faces)
    shapes = {
        "u": (vertices, 2), "faces": (faces, 3), "vertex_node": (vertices,), "face_sheet": (faces,),
        "face_material": (faces,), "edge_label": (faces, 3),
    }  # fmt: skip
    wrong = [name for name, shape in shapes.items() if getattr(mesh, name).shape != shape or not vertices]
    wrong += [name for name in shapes if getattr(mesh, name).dtype.kind != ("f" if name == "u" else "i")]
    if wrong:
        raise ValueError(f"{wrong[0]} has the wrong shape or type")
    if faces and not 0 <= mesh.faces.min() <= mesh.faces.max() < vertices:
        raise ValueError("faces point outside of what is there")
    if not 0 <= mesh.vertex_node.min() <= mesh.vertex_node.max() < vertices:  # a node has a vertex at least
        raise ValueError("vertex_node points outside of what is there")


OPERATOR = ("row", "column", "weight")
OPERATORS = ("forward", "backward")


class Dataset:
    """A dataset on disk: a sequence of `Run`s. Use it in `with`, or `close` it.

    It may be sent to other processes, which then open the file themselves.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._open()

    def _open(self) -> None:
        if not self.path.is_file():
            raise InputError(str(self.path), "no such file")
        try:
            check_regular(self.path)
            self._file = h5py.File(self.path, "r")
        except OSError as error:
            raise InputError(str(self.path), f"cannot be read as HDF5 ({' '.join(str(error).split())[:100]})") from None
        try:
            found = int(self._file.attrs.get("crumple_dataset", 0))
            if not found:
                raise InputError(str(self.path), "is no dataset of crumple; `crumple dataset` writes them")
            if found > FORMAT:
                raise InputError(str(self.path), "written by a newer crumple; upgrade to read it", found)
            self.topology = str(self._file.attrs["topology"])
            runs = child(self._file, "runs")
            self.runs = tuple(Run(child(runs, name)) for name in runs)
        except InputError:
            self._file.close()
            raise
        except BROKEN as error:
            self._file.close()
            raise InputError(str(self.path), f"is damaged ({' '.join(str(error).split())[:100]})") from None

    @property
    def datasheet(self) -> str:
        """What is in it and how it was made, in Markdown."""
        try:
            return str(child(self._file, "datasheet").asstr()[()])
        except BROKEN as error:
            raise InputError(f"{self.path}: datasheet", f"is damaged ({' '.join(str(error).split())[:100]})") from None

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, index: int) -> Run:
        return self.runs[index]

    def close(self) -> None:
        """Give the file free."""
        self._file.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = state["path"]
        self._open()


def load_dataset(path: str | Path) -> Dataset:
    """The dataset in the file `path`; `InputError` when there is none or it is damaged."""
    return Dataset(path)
