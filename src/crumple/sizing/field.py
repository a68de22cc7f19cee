"""The sizing field: all criteria of every face, combined, limited, and brought to the vertices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from crumple.errors import SimulationError
from crumple.geometry.triangle import green_strain, shape_gradients
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.sizing.buckling import sizing_buckling
from crumple.sizing.combine import combine_disk, combine_sum
from crumple.sizing.compression import sizing_compression
from crumple.sizing.curvature import sizing_curvature
from crumple.sizing.damage import sizing_damage
from crumple.sizing.limits import limit_sizing
from crumple.sizing.obstacle import sizing_obstacle
from crumple.sizing.options import SizingOptions
from crumple.sizing.plastic import sizing_plastic
from crumple.sizing.transfer import vertex_sizing
from crumple.sizing.user import sizing_user
from crumple.sizing.velocity import sizing_velocity
from crumple.typing import Floats


def compute_sizing(
    mesh: SheetMesh,
    x: Floats,
    v: Floats,
    curvature: Floats,
    plastic_curvature: Floats | None = None,
    *,
    options: SizingOptions,
    stiffness_ratio: Floats | None = None,
    obstacle_vector: Floats | None = None,
    damage: Floats | None = None,
    user: Sequence[Floats] = (),
) -> Floats:
    """The sizing tensor M of each vertex, (vertex_count, 3) [1/m²]: edges should satisfy wᵀM w ≤ 1.

    `x`, `v` (node_count, 3) [m], [m/s];  `curvature` S and `plastic_curvature` S_p (face_count, 3) [1/m];
    `stiffness_ratio` B/Y of each face [m²] (see `buckling`);  `obstacle_vector` (node_count, 3) to the nearest
    obstacle point [m], NaN where there is none;  `damage` (face_count,);  `user` fields (see `user`).
    Criteria whose data are left out or whose bound is infinite take no part.
    """
    sizing = face_sizing(
        mesh,
        x,
        v,
        curvature,
        plastic_curvature,
        options=options,
        stiffness_ratio=stiffness_ratio,
        obstacle_vector=obstacle_vector,
        damage=damage,
        user=user,
    )
    return vertex_sizing(mesh, sizing)


def face_sizing(
    mesh: SheetMesh,
    x: Floats,
    v: Floats,
    curvature: Floats,
    plastic_curvature: Floats | None = None,
    *,
    options: SizingOptions,
    stiffness_ratio: Floats | None = None,
    obstacle_vector: Floats | None = None,
    damage: Floats | None = None,
    user: Sequence[Floats] = (),
) -> Floats:
    """The combined and limited tensor of each face, (face_count, 3) [1/m²]; arguments as in `compute_sizing`."""
    nodes = mesh.face_nodes
    gradients = shape_gradients(mesh.u[mesh.faces])
    terms = np.empty((6 + len(user), mesh.face_count, 3))
    count = 0
    if math.isfinite(options.refine_angle):
        sizing_curvature(curvature, options.refine_angle, out=terms[count])
        count += 1
        if plastic_curvature is not None:
            sizing_plastic(plastic_curvature, options.refine_angle, out=terms[count])
            count += 1
    if math.isfinite(options.refine_velocity):
        sizing_velocity(nodes, gradients, v, options.refine_velocity, out=terms[count])
        count += 1
    if math.isfinite(options.refine_compression):
        strain = green_strain(x, nodes, gradients)
        if options.rib_stiffening:
            sizing_buckling(strain, curvature, options.refine_compression, stiffness_ratio, out=terms[count])
        else:
            sizing_compression(strain, options.refine_compression, out=terms[count])
        count += 1
    if options.refine_obstacle and obstacle_vector is not None:
        sizing_obstacle(nodes, gradients, x, obstacle_vector, options.size_min, out=terms[count])
        count += 1
    if math.isfinite(options.refine_damage) and damage is not None:
        bound = options.refine_damage
        sizing_damage(nodes, gradients, mesh.face_area, mesh.node_count, damage, bound, out=terms[count])
        count += 1
    for field in user:
        sizing_user(field, out=terms[count])
        count += 1
    terms = terms[:count]
    _require_finite(terms)
    # No criterion may ask for edges below the smallest: two sharp creases 5° apart, the actual and the plastic one,
    # would otherwise need faces of the smallest size in all directions.
    limit_sizing(terms.reshape(-1, 3), options.size_min, math.inf, 0.0, out=terms.reshape(-1, 3))
    combined = combine_disk(terms) if options.combine == "disk" else combine_sum(terms)
    return limit_sizing(combined, options.size_min, options.size_max, options.aspect_min, out=combined)


def _require_finite(terms: Floats) -> None:
    """Raise if a criterion is not finite: a degenerate pattern face or a broken state, not a matter of size."""
    finite = np.isfinite(terms)
    if not finite.all():
        face = int(np.flatnonzero(~finite.all(axis=(0, 2)))[0])
        raise SimulationError(f"sizing of face {face} is not finite (degenerate in the pattern, or NaN in the state)")
