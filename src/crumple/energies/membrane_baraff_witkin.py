"""In-plane elasticity of [Baraff1998]: stretch along the two axes of the pattern, and shear between them.

    E = ½ k_stretch w [(|w_u| − b_u)² + (|w_v| − b_v)²] + ½ k_shear w (w_u · w_v)²

per face, with the images w_u, w_v of the axes of the pattern, their lengths b at rest, and the weight w: the material
area A of the face, so that the coefficients [N/m] mean the same on every mesh, or A² as the text of the paper has it.
To first order in the strain it is the membrane of `membrane_stvk` with C11 = C22 = k_stretch, C12 = 0, C33 = 2 k_shear;
those are the numbers of a `Material`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.traced import dot, norm
from crumple.energies.traced.declaration import energy
from crumple.energies.traced.energy import TracedResiduals
from crumple.geometry.triangle import shape_gradients
from crumple.runtime.typing import Floats, Ints


@energy(elements="faces", parameters={"gradients": (3, 2), "root": (2,), "rest": (2,)}, residuals=True)
def baraff_witkin(x0: Any, x1: Any, x2: Any, gradients: Any, root: Any, rest: Any) -> Any:
    """The three C of a face; `root`: of the weighted coefficients of stretch and shear."""
    along_u, along_v = (x0 * gradients[0, k] + x1 * gradients[1, k] + x2 * gradients[2, k] for k in (0, 1))
    stretch_u, stretch_v = norm(along_u) - rest[0], norm(along_v) - rest[1]
    return root[0] * stretch_u, root[0] * stretch_v, root[1] * dot(along_u, along_v)


def make_baraff_witkin(
    corners: Floats, nodes: Ints, coefficients: Floats, rest: Floats, power: Floats
) -> TracedResiduals:
    """The energy of faces with the pattern corners (n, 3, 2) [m] and nodes (n, 3).

    `coefficients` (n, 2) k_stretch, k_shear [N/m];  `rest` (n, 2) b_u, b_v;  `power` (n,) of the area in the weight.
    """
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = 0.5 * np.abs(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])
    root = np.sqrt(coefficients * (area**power)[:, None])
    given = {"gradients": shape_gradients(corners), "root": root, "rest": rest}
    made = baraff_witkin.of(np.ascontiguousarray(nodes, np.int32), given)
    assert isinstance(made, TracedResiduals)
    return made


@register("membrane_baraff_witkin")
def example(rng: np.random.Generator) -> Example:
    """Faces of the sample patch with random coefficients, as large at rest as their pattern."""
    count = PATCH.face_count
    coefficients = rng.uniform(1.0, 2.0, (count, 2)) * [1e3, 3e2]
    energy = make_baraff_witkin(
        PATCH.u[PATCH.faces], PATCH.face_nodes, coefficients, np.ones((count, 2)), np.ones(count)
    )
    poses = patch_poses(rng)
    return Example(energy, poses, rest=poses["flat"], invariant=True, convex=("flat",))
