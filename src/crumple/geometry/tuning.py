"""Tuned numbers of search trees and of degenerate triangles."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    tree_leaf_size: Tuned[int] = Tuned(8, "items", "Most items in a leaf of a search tree.")
    tree_stack_size: Tuned[int] = Tuned(64, "entries", "Entries that a traversal needs at most: one per level.")
    tree_serial_levels: Tuned[int] = Tuned(
        4, "levels", "Levels split one after the other before the subtrees are split in parallel."
    )
    tree_rounding: Tuned[float] = Tuned(
        5e-7,
        "1",
        "Relative growth of a bound that covers its conversion to single precision (6e-8) and a sum of two such "
        "numbers.",
        chosen_on="from the format of numbers",
        breaks="Below 6e-8 a box may miss what it holds.",
    )
    flat_face_height: Tuned[float] = Tuned(
        1e-6,
        "1",
        "Faces whose height is below this times their longest edge have no directions to speak of: S = 0, no say in θ.",
        chosen_on="from the format of numbers",
        breaks="The least squares on two edges lose twice as many digits as the angle between these has zeros: four "
        "are left here.",
    )
    parallel_sine_squared: Tuned[float] = Tuned(
        1e-20,
        "1",
        "sin² of the angle below which a triangle counts as degenerate and two edges as parallel.",
        chosen_on="from the format of numbers",
        breaks="The interior solution loses eps/sin digits: at sin = 1e-10 six digits of the weights are still right, "
        "below it fewer.",
    )
    smallest_square: Tuned[float] = Tuned(
        1e-60,
        "m² or m⁴",
        "Floor of squared lengths [m²] and doubled areas [m⁴], so that a collapsed face gives finite numbers.",
        breaks="Without it a collapsed face gives infinite or undefined numbers.",
    )


TUNING = Tuning()
