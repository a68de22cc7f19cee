"""The one gate of topology edits: compiled kernels that check everything, then change `Buffers` in place.

All return a `Refusal` code (0 = done; else nothing was changed) and can be called from other compiled code.
What was changed is in `buf.report`.
"""

from __future__ import annotations

from crumple.mesh.edit_collapse import apply_collapse, collapse_edge, edge_feature, plan_collapse
from crumple.mesh.edit_cut import cut_edges
from crumple.mesh.edit_flip import apply_flip, flip_edge, plan_flip
from crumple.mesh.edit_split import apply_split, edge_is_seam, plan_split, split_edge
from crumple.mesh.refusal import Refusal

__all__ = [
    "Refusal",
    "apply_collapse",
    "apply_flip",
    "apply_split",
    "collapse_edge",
    "cut_edges",
    "edge_feature",
    "edge_is_seam",
    "flip_edge",
    "plan_collapse",
    "plan_flip",
    "plan_split",
    "split_edge",
]
