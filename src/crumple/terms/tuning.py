"""Tuned numbers of pressed creases, of strain limits and of cut shapes."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    same_place: Tuned[float] = Tuned(1e-9, "m", "Rows nearer than this are at the same place.")
    held_angle_weight: Tuned[float] = Tuned(
        1000.0,
        "1",
        "Weight ρ of held angles over what the sheet opposes to them, its bending and its inertia.",
        chosen_on="a prototype with hinges, one solve in contact",
        breaks="With 300 and 1000 the solve took 14 and 5 % more iterations than without constraints; "
        "with 30 it failed.",
    )
    flattening_time: Tuned[float] = Tuned(
        0.05, "1", "Time in which wings that are nearly in one plane get e times nearer, over the `ramp`."
    )
    moved_rows: Tuned[float] = Tuned(
        2.0, "1", "How far rows must be off, over the tolerance, to have been moved by a remeshing."
    )
    close_to_limit: Tuned[float] = Tuned(
        1.0 - 1e-6, "1", "Fraction of its limit from which on a face counts as being beyond it."
    )
    beyond_limit_room: Tuned[float] = Tuned(
        1.3,
        "1",
        "Faces that are beyond their limit at the start of a step may be stretched to at most this times their λ, "
        "those that are hardly beyond it only by half of what they are.",
        chosen_on="ARCSim's T-shirt with a limit of 1.05, whose seams start stretched to 36 times its pattern",
    )
    at_limit_room: Tuned[float] = Tuned(
        5e-4,
        "1",
        "How much farther (in λ) a face may be stretched that is at its limit at the start of a step.",
        breaks="With 2 % of λ a face that had come within 10⁻⁶ of its limit could leave it by 1 % in the next step.",
    )
    beyond_limit_stiffening: Tuned[float] = Tuned(
        10.0,
        "1",
        "Times that the barrier of such faces is stiffer: they have to shrink whatever pulls at them, also in the "
        "projection after a remeshing, which may have made them.",
    )
    given_shape: Tuned[float] = Tuned(
        1.0 - 1e-6, "1", "Part of a new face over faces with a given shape at rest from which on it has one, too."
    )
    face_part: Tuned[float] = Tuned(
        1e-6, "1", "Part of an area by which a new face may be beyond an old one that it is a part of."
    )
    glided_weight: Tuned[float] = Tuned(
        1e-4,
        "1",
        "Weight of faces over several old ones, whose shape has changed, beside all others, which keep theirs.",
    )


TUNING = Tuning()
