"""Arrays with spare capacity on which the topology is edited, and the way in and out.

`open_buffers` copies a mesh and its fields in, the kernels of `edits` change them, `compact` copies them out
and says where everything went. Elements are only ever appended; a removed one leaves a tombstone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from crumple.mesh.fields import Field, Place, field_rules, stack_fields, unstack_fields
from crumple.mesh.overlap import CLIPPED
from crumple.mesh.rings import Indices, Links, refresh_node_corner
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.runtime.typing import Bools, Floats, Ints

RING_CAPACITY = 1024
"""Largest number of faces around a node that an edit handles; beyond it the edit is refused."""

Record = np.record
"""Named integers that compiled code may change: one pointer, where an array or a tuple would be many values."""

COUNTERS = np.dtype((Record, [(name, np.int64) for name in ("nodes", "vertices", "faces", "ring", "ring_split")]))
"""Used slots (tombstones included), then the size and the sector border of the ring."""

_REPORTED = ("new_node", "new_node_count", "removed_node", "new_vertex_a", "new_vertex_b")
_REPORTED_FACES = ("removed_face_a", "removed_face_b", "face_count")
REPORT = np.dtype(
    (Record, [*((name, np.int64) for name in _REPORTED + _REPORTED_FACES), ("faces", np.int64, (RING_CAPACITY,))])
)
"""What the last accepted edit changed: `new_node` (first of `new_node_count`), `removed_node`, `new_vertex_a`,
`new_vertex_b`, `removed_face_a`, `removed_face_b` (-1 = none), and the first `face_count` of `faces`: those that are
new or changed (after a cut a face may be listed twice, and a very long cut lists only as many as fit)."""


def make_record(dtype: np.dtype) -> Record:
    """A record of zeros."""
    return np.zeros(1, dtype)[0]


class Buffers(NamedTuple):
    """A mesh under edit with its fields; capacities are the array lengths.

    `links`: topology and pattern, see `Links`.
    `edge_label` (3 ·,), `face_material`, `face_sheet`, `node_label`, `node_rest` as in `SheetMesh`;
    `node_parent`, `vertex_parent` (·, 3): the elements that an element was made between, −1 = it was there from the
    start; `node_weight`, `vertex_weight` (·, 3): how much of each there is in it;
    `node_protected` (·,) 1 = never removed; `node_data`, `vertex_data`, `face_data` stacked fields with the rule
    of each column in `*_rule`.
    `counters`: see `COUNTERS`.  `ring`, `ring_vertex` (RING_CAPACITY,): corners around the node that
    `plan_collapse` would remove, and the vertex that would replace it there.
    `report`: what the last accepted edit changed, see `REPORT`.
    `scratch`, `polygon`: for the overlap of faces, see `overlap`.
    """

    links: Links
    edge_label: Ints
    face_material: Ints
    face_sheet: Ints
    node_label: Ints
    node_rest: Floats
    node_parent: Indices
    node_weight: Floats
    vertex_parent: Indices
    vertex_weight: Floats
    node_protected: np.ndarray
    node_data: Floats
    vertex_data: Floats
    face_data: Floats
    node_rule: np.ndarray
    vertex_rule: np.ndarray
    face_rule: np.ndarray
    counters: Record
    ring: Indices
    ring_vertex: Indices
    report: Record
    scratch: Floats
    polygon: Floats


@dataclass(frozen=True)
class Maps:
    """Where every buffer slot went: new index of each old one, -1 = gone; nodes, vertices and faces.

    Slots keep their order, so old indices of the opened mesh are the first entries, followed by what was added.
    """

    node: Ints
    vertex: Ints
    face: Ints


_ROWS = {
    "node": ("node_corner", "node_label", "node_rest", "node_parent", "node_weight", "node_protected", "node_data"),
    "vertex": ("u", "vertex_node", "vertex_parent", "vertex_weight", "vertex_data"),
    "face": ("faces", "face_material", "face_sheet", "face_data"),
    "corner": ("twin", "edge_label"),
}
"""Which arrays have a row per node, vertex, face or half-edge."""
_EMPTY = {*Links._fields, "node_parent", "vertex_parent"} - {"u"}
"""Arrays of indices, where −1 stands for nothing."""


def open_buffers(
    mesh: SheetMesh,
    fields: Sequence[Field] = (),
    values: Mapping[str, np.ndarray] | None = None,
    *,
    protected: Bools | None = None,
    spare: float = 0.5,
) -> Buffers:
    """A copy of a valid `mesh` and the `values` of its `fields`, with `spare` times as many free slots.

    `protected` (node_count,) marks nodes that may not be removed (handles).
    """
    values = values or {}
    nodes, vertices, faces = mesh.node_count, mesh.vertex_count, mesh.face_count
    room = [int(count * (1.0 + spare)) + 16 for count in (nodes, vertices, faces)]
    protected = np.zeros(nodes, bool) if protected is None else protected

    def stacked(where: Place, count: int, capacity: int) -> Floats:
        return stack_fields(fields, values, where, count, capacity)

    face_data = stacked("face", faces, room[2])
    buf = Buffers(
        links=Links(
            faces=_padded(mesh.faces, room[2], np.int64, -1),
            vertex_node=_padded(mesh.vertex_node, room[1], np.int64, -1),
            twin=_padded(mesh.twin, 3 * room[2], np.int64, BOUNDARY),
            node_corner=np.full(room[0], -1, np.int64),
            u=_padded(mesh.u, room[1], np.float64, 0),
        ),
        edge_label=_padded(mesh.edge_label.ravel(), 3 * room[2], np.int32, 0),
        face_material=_padded(mesh.face_material, room[2], np.int32, 0),
        face_sheet=_padded(mesh.face_sheet, room[2], np.int32, 0),
        node_label=_padded(mesh.node_label, room[0], np.int32, 0),
        node_rest=_padded(mesh.node_rest, room[0], np.float64, 0),
        node_parent=np.full((room[0], 3), -1, np.int64),
        node_weight=np.zeros((room[0], 3)),
        vertex_parent=np.full((room[1], 3), -1, np.int64),
        vertex_weight=np.zeros((room[1], 3)),
        node_protected=_padded(protected, room[0], np.uint8, 0),
        node_data=stacked("node", nodes, room[0]),
        vertex_data=stacked("vertex", vertices, room[1]),
        face_data=face_data,
        node_rule=field_rules(fields, "node"),
        vertex_rule=field_rules(fields, "vertex"),
        face_rule=field_rules(fields, "face"),
        counters=make_record(COUNTERS),
        ring=np.zeros(RING_CAPACITY, np.int64),
        ring_vertex=np.zeros(RING_CAPACITY, np.int64),
        report=make_record(REPORT),
        scratch=np.zeros((2 * RING_CAPACITY, 6 + face_data.shape[1])),
        polygon=np.zeros(CLIPPED),
    )
    buf.counters.nodes, buf.counters.vertices, buf.counters.faces = nodes, vertices, faces
    _find_node_corners(buf)
    return buf


def grow(buf: Buffers, factor: float = 2.0) -> Buffers:
    """The same buffers with `factor` times the capacity; call it when a kernel answers `NO_CAPACITY`."""
    changes: dict[str, Any] = {}
    for kind, names in _ROWS.items():
        unit = 3 if kind == "corner" else 1
        for name in names:
            inside = name in Links._fields
            old = getattr(buf.links if inside else buf, name)
            room = unit * (int(len(old) // unit * factor) + 16)
            changes[name] = _padded(old, room, old.dtype, -1 if name in _EMPTY else 0)
    links = Links(**{name: changes.pop(name) for name in Links._fields})
    return buf._replace(links=links, **changes)


def compact(buf: Buffers, fields: Sequence[Field] = ()) -> tuple[SheetMesh, dict[str, Floats], Maps]:
    """The mesh and the field values without tombstones, and where every slot went.

    `fields` must be those given to `open_buffers`. The order of what is left is kept.
    """
    nodes, vertices, faces = (int(buf.counters[name]) for name in ("nodes", "vertices", "faces"))
    node = np.flatnonzero(buf.links.node_corner[:nodes] >= 0)
    vertex = np.flatnonzero(buf.links.vertex_node[:vertices] >= 0)
    face = np.flatnonzero(buf.links.faces[:faces, 0] >= 0)
    maps = Maps(_renumber(node, nodes), _renumber(vertex, vertices), _renumber(face, faces))
    mesh = SheetMesh(
        u=np.ascontiguousarray(buf.links.u[vertex]),
        vertex_node=maps.node[buf.links.vertex_node[vertex]],
        faces=maps.vertex[buf.links.faces[face]],
        face_material=buf.face_material[face],
        face_sheet=buf.face_sheet[face],
        edge_label=np.ascontiguousarray(buf.edge_label.reshape(-1, 3)[face]),
        node_label=buf.node_label[node],
        node_rest=np.ascontiguousarray(buf.node_rest[node]),
    )
    values = unstack_fields(fields, "node", buf.node_data[node])
    values |= unstack_fields(fields, "vertex", buf.vertex_data[vertex])
    values |= unstack_fields(fields, "face", buf.face_data[face])
    return mesh, values, maps


def _padded(array: np.ndarray, length: int, dtype: type | np.dtype, fill: int) -> np.ndarray:
    """`array` followed by rows of `fill` up to `length` rows."""
    out = np.full((length, *array.shape[1:]), fill, dtype)
    out[: len(array)] = array
    return out


def _renumber(kept: np.ndarray, count: int) -> Ints:
    """Old → new index, -1 for what is not in `kept`."""
    new = np.full(count, -1, np.int32)
    new[kept] = np.arange(len(kept), dtype=np.int32)
    return new


@njit(cache=True)
def _find_node_corners(buf: Buffers) -> None:
    """Fill `node_corner` from faces and twins."""
    for face in range(buf.counters.faces):
        for k in range(3):
            node = buf.links.vertex_node[buf.links.faces[face, k]]
            if buf.links.node_corner[node] < 0:
                refresh_node_corner(buf.links, node, 3 * face + k)
