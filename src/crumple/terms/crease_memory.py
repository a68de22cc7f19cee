"""What driven and pressed creases remember, `State.creases`, and how rows on any mesh find it again: each takes what
the nearest place of the same crease and kind remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools, Ints
from crumple.state import CreaseRows, State
from crumple.terms.tuning import TUNING

FLAP, SPRUNG, SPINE, LEFT, RIGHT = range(5)
"""Kinds of rows, see `CreaseRows`."""
BROKEN = -1
"""Status of a broken row."""
SAME_PLACE = TUNING.same_place.value
HELD = (FLAP, LEFT, RIGHT, SPINE)
"""Kinds of rows that are held by multipliers."""


def aligned_state(state: State, fresh: CreaseRows, kinds: tuple[int, ...]) -> State:
    """The state whose rows of the `kinds` are those of `fresh`, with what is remembered; itself if they are already."""
    present = chosen_rows(state.creases, np.isin(state.creases.kind, kinds))
    if are_alike(present, fresh):
        return state
    return with_rows(state, aligned_rows(state.creases, fresh), kinds)


def aligned_rows(memory: CreaseRows, fresh: CreaseRows) -> CreaseRows:
    """The rows `fresh` with what the nearest row of the same crease and kind in `memory` remembers, if there is one."""
    if are_alike(memory, fresh):
        return memory
    from scipy.spatial import cKDTree  # slow to import, seldom needed

    moment, shift, status = fresh.moment.copy(), fresh.shift.copy(), fresh.status.copy()
    old, new = _keys(memory), _keys(fresh)
    for key in np.unique(new):
        there, here = np.flatnonzero(old == key), np.flatnonzero(new == key)
        if not len(there):
            continue
        nearest = there[cKDTree(memory.place[there]).query(fresh.place[here])[1]]
        moment[here], shift[here] = memory.moment[nearest], memory.shift[nearest]
        if fresh.kind[here[0]] in (FLAP, SPRUNG):
            status[here] = memory.status[nearest]
        else:  # a break is at one place, and does not spread when the mesh gets finer
            exact = np.all(np.abs(memory.place[nearest] - fresh.place[here]) < SAME_PLACE, axis=1)
            status[here] = np.where(exact, memory.status[nearest], 0)
    return replace(fresh, moment=moment, shift=shift, status=status)


def _keys(rows: CreaseRows) -> np.ndarray:
    """One number for each crease and kind."""
    return np.asarray((rows.sheet.astype(np.int64) * (1 << 32) + rows.label) * 8 + rows.kind)


def are_alike(one: CreaseRows, other: CreaseRows) -> bool:
    """Whether two sets of rows are about the same places in the same order."""
    return len(one.kind) == len(other.kind) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("place", "kind", "label", "sheet")
    )


def with_rows(state: State, rows: CreaseRows, kinds: tuple[int, ...]) -> State:
    """The state whose rows of the `kinds` are `rows`; springs come first."""
    others = chosen_rows(state.creases, ~np.isin(state.creases.kind, kinds))
    parts = [rows, others] if SPRUNG in kinds else [others, rows]
    return state.replaced(creases=join_rows(parts))


def chosen_rows(rows: CreaseRows, mask: Bools) -> CreaseRows:
    """The rows of a mask; the same object when it is all of them."""
    return rows if mask.all() else CreaseRows(**{name: value[mask] for name, value in vars(rows).items()})


def join_rows(parts: Sequence[CreaseRows]) -> CreaseRows:
    return CreaseRows(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])})


def fresh_rows(mesh: SheetMesh, hinges: Ints, kind: int) -> CreaseRows:
    """Rows in the middle of hinges (n,), without memory."""
    corner = mesh.hinges.corners[hinges, 0]
    tail, head = mesh.faces.ravel()[corner], mesh.faces.ravel()[3 * (corner // 3) + (corner + 1) % 3]
    count = len(corner)
    return CreaseRows(
        sheet=mesh.face_sheet[corner // 3].astype(np.int32),
        label=mesh.edge_label.ravel()[corner].astype(np.int32),
        kind=np.full(count, kind, np.int32),
        place=0.5 * (mesh.u[tail] + mesh.u[head]),
        moment=np.zeros((count, 3)),
        shift=np.zeros(count),
        status=np.zeros(count, np.int32),
    )
