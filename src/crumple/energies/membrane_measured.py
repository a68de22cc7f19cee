"""In-plane elasticity of measured fabrics: stiffness looked up by strain and its direction [Wang2011].

The table gives C11, C12, C22, C33 at zero strain and at strain 1/6 for five directions of largest stretch.
A stiffness that follows the strain instantly has no energy, so it is **lagged**: after
`sampled` the coefficients are those of the strain there, and the membrane is a Saint Venant–Kirchhoff one, with the
same kernel. It is sampled once per step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.membrane_stvk import MembraneStvk, make_membrane_stvk
from crumple.energies.tuning import TUNING
from crumple.materials.material import DIRECTION_KNOTS, STRAIN_KNOT, mirror_quadrant
from crumple.runtime.typing import Floats, Ints

SMALLEST_FRACTION = TUNING.measured_stiffness_floor.value

LARGEST_COUPLING = TUNING.measured_coupling_bound.value


@dataclass(frozen=True)
class MembraneMeasured(MembraneStvk):
    """A `MembraneStvk` whose coefficients come from `table` (n, 6, 4) [N/m], one table per face."""

    table: Floats

    def sampled(self, x: Floats) -> MembraneMeasured:
        """The same membrane with the coefficients of the strain beyond `rest_strain` at `x`."""
        return replace(self, coefficients=sample_membrane(self.table, self.deformation(x) - self.rest_strain))


def make_membrane_measured(corners: Floats, nodes: Ints, table: Floats) -> MembraneMeasured:
    """The measured membrane of faces with pattern corners (n, 3, 2) [m] and nodes (n, 3), unstrained.

    `table` (6, 4) or (n, 6, 4) [N/m].
    """
    table = np.ascontiguousarray(np.broadcast_to(table, (len(nodes), 6, 4)), np.float64)
    plain = make_membrane_stvk(corners, nodes, sample_membrane(table, np.zeros((len(nodes), 3))))
    return MembraneMeasured(**vars(plain), table=table)


def sample_membrane(table: Floats, strain: Floats) -> Floats:
    """C11, C12, C22, C33 [N/m] of `table` (n, 6, 4) at Green strains xx, yy, xy (n, 3), (n, 4).

    Bilinear in the largest principal strain (constant beyond 1/6, zero strain under compression) and in the
    angle of its direction from u, mirrored beyond 90°; negatives count as 0, then are raised to a small floor.
    """
    size, angle = largest_stretch(strain)
    amount = np.clip(size / STRAIN_KNOT, 0.0, 1.0)[:, None]
    part = mirror_quadrant(angle) / DIRECTION_KNOTS[1]
    row = np.clip(part.astype(np.intp), 0, len(DIRECTION_KNOTS) - 2)
    part = (part - row)[:, None]
    face = np.arange(len(table))
    stretched = (1.0 - part) * table[face, 1 + row] + part * table[face, 2 + row]
    values = np.maximum((1.0 - amount) * table[:, 0] + amount * stretched, 0.0)
    floor = SMALLEST_FRACTION * table.max(axis=(1, 2), initial=0.0)[:, None]
    values[:, [0, 2, 3]] = np.maximum(values[:, [0, 2, 3]], floor)
    values[:, 1] = np.minimum(values[:, 1], LARGEST_COUPLING * np.sqrt(values[:, 0] * values[:, 2]))
    return values


def largest_stretch(strain: Floats) -> tuple[Floats, Floats]:
    """Largest principal strain (n,) and the angle of its direction from u [rad], (n,)."""
    mean, half = 0.5 * (strain[:, 0] + strain[:, 1]), 0.5 * (strain[:, 0] - strain[:, 1])
    return mean + np.hypot(half, strain[:, 2]), 0.5 * np.arctan2(strain[:, 2], half)


@register("membrane_measured")
def example(rng: np.random.Generator) -> Example:
    """A knit with partly negative entries on the sample patch, its stiffness sampled in a random pose."""
    table = rng.uniform(-50.0, 400.0, (6, 4))
    poses = patch_poses(rng)
    energy = make_membrane_measured(PATCH.u[PATCH.faces], PATCH.face_nodes, table).sampled(poses["random"])
    return Example(energy, poses, rest=poses["flat"], invariant=True, convex=("flat", "stretched"))
