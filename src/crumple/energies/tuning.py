"""Tuned numbers of the energies of sheets."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    held_face_stiffening: Tuned[float] = Tuned(
        1e4, "1", "Factor of the stiffness of faces that a handle holds: their directors follow their normals."
    )
    relaxed_turn_tolerance: Tuned[float] = Tuned(1e-12, "1", "Error of relaxed turns in the energy norm, relative.")
    relaxed_turn_iterations: Tuned[int] = Tuned(
        150, "iterations", "Iterations of relaxed turns after which a factorisation is quicker."
    )
    eigenvalue_slack: Tuned[float] = Tuned(
        1e-11,
        "1",
        "Negative eigenvalues below this fraction of the largest diagonal entry count as rounding: rigid motions "
        "cost nothing, so every element of a sheet has eigenvalues that are zero but for rounding.",
    )
    measured_stiffness_floor: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Floor of C11, C22 and C33 relative to the largest entry of the table: measured values may be zero or less.",
    )
    measured_coupling_bound: Tuned[float] = Tuned(
        0.95, "1", "Bound of |C12|/√(C11 C22).", breaks="The energy is positive only below 1."
    )
    strain_barrier_start: Tuned[float] = Tuned(
        0.7, "1", "Fraction of the strain (of squares) that is free of the barrier."
    )
    strain_step_fraction: Tuned[float] = Tuned(0.9, "1", "Fraction of the distance to the limit that a step may go.")
    smallest_stretch_gap: Tuned[float] = Tuned(
        1e-6,
        "1",
        "Eigenvalues closer than this count as this far apart.",
        breaks="Where both stretches are equal, λ has no second derivative.",
    )
    gust_waves: Tuned[int] = Tuned(
        48, "waves", "Waves of a gust: enough that their sum is nearly normal and does not visibly repeat."
    )


TUNING = Tuning()
