"""Stiffness-proportional damping: the elastic energy of the change of strain and angle over a step.

With the damping time β [s] and the step dt, a membrane dissipates through A β/(2 dt) (E−E₀):C:(E−E₀) and a hinge
through ½ k β/dt (θ−θ₀)², E₀ and θ₀ taken at the start of the step: Rayleigh's β K v written on strain and angle
rates, so that rigid motion is not damped. Both are the elastic energies with other rest values; `fold_damping`
even makes elastic energy and dissipation *one* energy of the same kind, at no cost:

    C/2 D(E₁)² + r C/2 D(E₀)² = (1+r) C/2 D((E₁ + r E₀)/(1+r))² + constant,   r = β/dt
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.energies.bending_hinge import BendingHinge
from crumple.energies.bending_measured import BendingMeasured
from crumple.energies.contract import Example
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.membrane_stvk import MembraneStvk, make_membrane_stvk
from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.triangle import green_strain
from crumple.typing import Floats


def make_damping(
    energy: MembraneStvk | BendingHinge | BendingMeasured, start: Floats, ratio: Floats | float
) -> MembraneStvk | BendingHinge:
    """The dissipation potential [J] that goes with an elastic energy over one step.

    `start` x at the start of the step;  `ratio` β/dt, scalar or (n,). Measured bending is damped with its
    stiffness at zero curvature.
    """
    if isinstance(energy, MembraneStvk):
        return MembraneStvk(
            energy.stencil,
            energy.gradients,
            energy.area,
            energy.coefficients * np.reshape(ratio, (-1, 1)),
            green_strain(start, energy.stencil, energy.gradients),
        )
    angle = dihedral_angles(start, energy.stencil)
    stiffness = energy.stiffness if isinstance(energy, BendingHinge) else energy.stiffness[:, 0]
    return BendingHinge(energy.stencil, stiffness * ratio, angle)


def fold_damping(
    energy: MembraneStvk | BendingHinge, start: Floats, ratio: Floats | float
) -> MembraneStvk | BendingHinge:
    """Elastic energy plus its dissipation over one step, up to a constant per element, as one energy.

    `start` x at the start of the step;  `ratio` β/dt, scalar or (n,).
    """
    if isinstance(energy, BendingHinge):
        angle = dihedral_angles(start, energy.stencil)
        rest_angle = (energy.rest_angle + ratio * angle) / (1.0 + ratio)
        return replace(energy, stiffness=energy.stiffness * (1.0 + ratio), rest_angle=rest_angle)
    column = np.reshape(ratio, (-1, 1))
    strain = green_strain(start, energy.stencil, energy.gradients)
    rest_strain = (energy.rest_strain + column * strain) / (1.0 + column)
    return replace(energy, coefficients=energy.coefficients * (1.0 + column), rest_strain=rest_strain)


def example_membrane(rng: np.random.Generator) -> Example:
    """Damping of the sample patch's membrane away from a random pose."""
    poses = patch_poses(rng)
    elastic = make_membrane_stvk(PATCH.u[PATCH.faces], PATCH.face_nodes, np.array([1e3, 3e2, 5e2, 4e2]))
    damping = make_damping(elastic, poses["random"], 0.1)
    return Example(damping, poses, rest=poses["random"], invariant=True, convex=("random",))


def example_bending(rng: np.random.Generator) -> Example:
    """Damping of the sample patch's hinges away from a random pose."""
    poses = patch_poses(rng)
    nodes = PATCH.hinges.nodes
    elastic = BendingHinge(nodes, rng.uniform(1e-4, 1e-3, len(nodes)), np.zeros(len(nodes)))
    damping = make_damping(elastic, poses["random"], 0.1)
    return Example(damping, poses, rest=poses["random"], invariant=True, convex=("random",))
