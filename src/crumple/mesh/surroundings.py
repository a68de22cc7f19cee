"""What lies around some nodes of a mesh."""

from __future__ import annotations

import numpy as np

from crumple.runtime.typing import Bools, Ints


def surroundings(face_nodes: Ints, chosen: Bools, rings: int, whole: float) -> Bools:
    """The nodes within `rings` rings of faces of the `chosen` ones, (node_count,); all when that is a fraction of
    `whole`.

    `face_nodes` (face_count, 3).
    """
    near = chosen.copy()
    for _ in range(rings):
        near[face_nodes[near[face_nodes].any(axis=1)]] = True
    return near if np.mean(near) < whole else np.ones_like(near)
