"""The sizing field: what all criteria ask of every face, limited, combined, and brought to the vertices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.derived import Derived
from crumple.options.remeshing import Criterion, RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.remeshing.sizing.combine import combine_disk, combine_sum
from crumple.remeshing.sizing.criteria import built_in_criteria
from crumple.remeshing.sizing.limits import limit_sizing
from crumple.remeshing.sizing.tensors import criteria_tensors
from crumple.remeshing.sizing.transfer import vertex_sizing
from crumple.runtime.typing import Floats
from crumple.state import State


def compute_sizing(state: State, derived: Derived, criteria: Sequence[Criterion] = ()) -> Floats:
    """The sizing tensor M of each vertex, (vertex_count, 3) [1/m²]: edges should satisfy wᵀM w ≤ 1.

    Each sheet follows its own options. `criteria`: further ones, beside those built in and the user's.
    """
    remeshing = derived.model.remeshing
    assert remeshing is not None
    further = criteria_tensors((*remeshing.criteria, *criteria), state)
    all_sizing = _sheet_sizing(remeshing, state.mesh)
    fields = {}
    for options in dict.fromkeys(all_sizing):
        built_in = criteria_tensors(built_in_criteria(derived, options), state)
        tensors = combine_criteria(np.concatenate([built_in, further]), options)
        fields[options] = vertex_sizing(state.mesh, tensors)
    if len(fields) == 1:
        return fields[all_sizing[0]]
    by_sheet = np.stack([fields[options] for options in all_sizing])
    vertex_sheet = state.mesh.node_sheet[state.mesh.vertex_node]
    return np.ascontiguousarray(by_sheet[vertex_sheet, np.arange(len(vertex_sheet))])


def _sheet_sizing(remeshing: RemeshingOptions, mesh: SheetMesh) -> list[SizingOptions]:
    """What each sheet follows, with the longest edge that its area allows where none is given."""
    areas = np.bincount(mesh.face_sheet, weights=np.abs(mesh.face_area))
    given = remeshing.sheet_sizing or (remeshing.sizing,) * len(areas)
    return [options.for_area(float(area)) for options, area in zip(given, areas, strict=True)]


def combine_criteria(tensors: Floats, options: SizingOptions) -> Floats:
    """One tensor of each face within the limits, (face_count, 3) [1/m²], of those of all criteria (n, face_count, 3).

    No criterion may ask for edges below the smallest: two sharp creases 5° apart, the actual and the plastic one,
    would otherwise need faces of the smallest size in all directions.
    """
    limited = limit_sizing(tensors.reshape(-1, 3), options.size_min, math.inf, 0.0).reshape(tensors.shape)
    combined = combine_disk(limited) if options.combine == "disk" else combine_sum(limited)
    return limit_sizing(combined, options.size_min, options.longest_edge(), options.aspect_min)
