"""What the compiled loop works on: the buffers of the mesh, records of what was done, scratch, constants."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.geometry.bvh import STACK_SIZE, Tree
from crumple.mesh.buffers import RING_CAPACITY, Buffers, Record, make_record
from crumple.remeshing.tuning import TUNING
from crumple.runtime.typing import Floats, Ints

_TALLIED = ("splits", "flips", "collapses", "refused", "linear", "passes", "edits", "fresh", "faces", "unmet")
TALLY = np.dtype((Record, [(name, np.int64) for name in _TALLIED]))
"""Edits done; `refused` by the guard; `linear` splits that it moved back to the middle of the edge; number of the
current pass; number of the current edit; `fresh`: up to how many edits the tree of the faces serves; `faces` that
there are; `unmet` splits that were left out because there are as many faces as there may be."""

CHANGE = np.dtype(
    (
        Record,
        [
            ("count", np.int64, (5,)),
            ("point", np.int64),
            ("gone", np.int64),
            ("moves", np.bool_),
            ("parts", np.int64, (5, RING_CAPACITY + 8, 4)),
        ],
    ),
    align=True,
)
"""What an edit makes and takes away: the first `count` of `parts`, as nodes, in the lists that `safety` names;
`point`: the new node, `gone`: the one that is taken away, -1 = none; `moves`: whether the geometry changes."""

STEP = {"inline": "always"}
"""Options of the steps of a pass: they become part of the one kernel that uses them. Compiled on their own, each
would be optimised again with all that it calls."""

STACK_EDGES = TUNING.waiting_edges.value


class Switches(NamedTuple):
    """What holds for the whole of a pass.

    `has_y`: columns 3–5 of the node data are y; `velocity`: first column of v, −1 = none; `surface`: u and the tensors
    are local charts of a surface in space; `guarded`: contacts are checked; `smooth`: new nodes are placed smoothly;
    `coarsening`: (4) holds already and may not be violated by flips.
    """

    has_y: bool
    velocity: int
    surface: bool
    guarded: bool
    smooth: bool
    coarsening: bool = False


class Limits(NamedTuple):
    """Numbers that decide on edits, see `RemeshOptions`.

    `max_faces`: no more are made.
    `smooth_cos`, `feature_cos`: cosines of the angles there; `outline`: the tolerance there.
    Of contacts: `dhat` [m], their largest `reach` [m], and the relative `gap` below which no edit may go.
    """

    hysteresis: float
    collapse: float
    aspect: float
    strain: float
    smooth_cos: float
    feature_cos: float
    outline: float
    max_faces: int
    dhat: float = 0.0
    reach: float = 0.0
    gap: float = 0.0


class GuardArrays(NamedTuple):
    """The surroundings of an edit.

    `tree` of the sheet faces at the start of the pass; item i stands for the faces `first[i]`, `after[first[i]]`, …
    (−1 ends), `host` (faces,) is the item of a face.  `obstacle_tree`; `obstacle` (n, 10): nodes, whether a corner
    stands for its node, whether it stands for its edge (three each), part;  `obstacle_x` (m, 3) [m].
    `sheet_part` (sheets,) part of each sheet; `thickness` (parts,) [m].
    `found`, `near`, `stack`: scratch of queries.  `change`: see `CHANGE`.
    """

    tree: Tree
    first: np.ndarray
    after: np.ndarray
    host: np.ndarray
    obstacle_tree: Tree
    obstacle: Ints
    obstacle_x: Floats
    sheet_part: Ints
    thickness: Floats
    found: np.ndarray
    near: np.ndarray
    stack: np.ndarray
    change: Record


class Work(NamedTuple):
    """The mesh under remeshing.

    `buf`: node data are x (3), y (3) if there is one, then further fields; vertex data are the tensors (xx, yy, xy)
    [1/m²], of surfaces also (xx, yy, zz, yz, zx, xy) in space.
    `node_stamp` (·,): last pass in which a face at the node changed.  `face_mark` (·,): last edit that took it away.
    `edges` (STACK_EDGES,): scratch.  `tally`: see `TALLY`.  `density` (materials,) [kg/m²].  `stretch` (materials,):
    square of the stretch beyond which no edit takes a face, unless those that it replaces are stretched more.
    `scratch` (3, 3): offsets of a new node in x and y, momentum.
    """

    buf: Buffers
    node_stamp: np.ndarray
    face_mark: np.ndarray
    edges: np.ndarray
    tally: Record
    switches: Switches
    limits: Limits
    density: Floats
    stretch: Floats
    scratch: Floats
    guard: GuardArrays


def fit_records(work: Work, buf: Buffers) -> Work:
    """The work with these (larger) buffers and records of the same capacity."""

    def longer(old: np.ndarray, capacity: int, fill: int) -> np.ndarray:
        new = np.full((capacity, *old.shape[1:]), fill, old.dtype)
        new[: len(old)] = old
        return new

    nodes, faces = len(buf.node_label), len(buf.links.faces)
    guard = work.guard._replace(after=longer(work.guard.after, faces, -1), host=longer(work.guard.host, faces, -1))
    return work._replace(
        buf=buf,
        node_stamp=longer(work.node_stamp, nodes, 0),
        face_mark=longer(work.face_mark, faces, 0),
        guard=guard,
    )


def make_work(
    buf: Buffers, limits: Limits, switches: Switches, density: Floats, stretch: Floats, guard: GuardArrays
) -> Work:
    """A fresh record of nothing done."""
    empty = Work(
        buf=buf,
        node_stamp=np.zeros(0, np.int64),
        face_mark=np.zeros(0, np.int64),
        edges=np.zeros(STACK_EDGES, np.int64),
        tally=make_record(TALLY),
        switches=switches,
        limits=limits,
        density=density,
        stretch=stretch,
        scratch=np.zeros((3, 3)),
        guard=guard,
    )
    return fit_records(empty, buf)


def empty_tree() -> Tree:
    """A tree of nothing, of the types of a real one."""
    box = np.empty((2, 6), np.float32)
    box[:, :3], box[:, 3:] = np.inf, -np.inf
    none = np.zeros(0, np.int32)
    return Tree(box, np.zeros((0, 18), np.float32), none, none, np.zeros(2, np.int32))


def no_guard() -> GuardArrays:
    """Arrays of the right types for a loop that checks no contacts."""
    ints = np.zeros(0, np.int64)
    return GuardArrays(
        tree=empty_tree(),
        first=ints,
        after=ints.copy(),
        host=ints.copy(),
        obstacle_tree=empty_tree(),
        obstacle=np.zeros((0, 10), np.int32),
        obstacle_x=np.zeros((0, 3)),
        sheet_part=np.zeros(0, np.int32),
        thickness=np.zeros(0),
        found=np.zeros(1024, np.int32),
        near=np.zeros(8192, np.int64),
        stack=np.zeros(STACK_SIZE, np.int32),
        change=make_record(CHANGE),
    )
