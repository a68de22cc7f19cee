"""Tuned numbers of Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    armijo: Tuned[float] = Tuned(
        1e-4,
        "1",
        "Fraction of the decrease that the gradient promises which a step must deliver; in the embedding too.",
    )
    newton_backtracks: Tuned[int] = Tuned(40, "halvings", "Halvings of a step before the line search gives up.")
    potential_rounding: Tuned[float] = Tuned(
        1e-13, "1", "Relative decrease of the potential below which rounding decides."
    )
    trusted_iterations: Tuned[int] = Tuned(
        1, "iterations", "Iterations that may make up for a step that raised the potential."
    )
    straight_decrease: Tuned[float] = Tuned(
        0.8,
        "1",
        "Decrease over the one by the gradient alone above which a longer step is tried: 0.5 when the Hessian is "
        "right, 1 when the potential does not curve. At 0.8 the best length is 2.5.",
    )
    curving_rounding: Tuned[float] = Tuned(
        1e-9, "1", "Relative decrease of the potential below which rounding may hide how it curves."
    )
    line_search_growth: Tuned[float] = Tuned(
        4.0, "1", "Factor by which a step of the line search is lengthened at a time."
    )
    line_search_longest: Tuned[float] = Tuned(1e4, "1", "Most that a step of the line search is lengthened.")
    exact_hessian_pause: Tuned[int] = Tuned(
        16,
        "iterations",
        "Most iterations between two attempts with the exact Hessian, or with friction's own curvature.",
    )
    kept_promise: Tuned[float] = Tuned(
        0.5,
        "1",
        "Fraction of the predicted decrease that a step with friction's own curvature must bring, or the next "
        "ones do without.",
    )
    trust_pause: Tuned[int] = Tuned(4, "iterations", "Most iterations between two steps that are taken on trust.")
    blocked_step: Tuned[float] = Tuned(
        0.02, "1", "A collision-free fraction below this, several times in a row, means that an obstacle has no room."
    )
    blocked_patience: Tuned[int] = Tuned(6, "iterations", "How many times in a row a step must be blocked.")
    blocked_gap: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Gap over the activation distance below which a blocked obstacle stops pressing.",
        breaks="It would shrink the gap for ever.",
    )
    multiplier_boost: Tuned[float] = Tuned(
        1e4,
        "1",
        "Most by which the change of multipliers is enlarged where contact keeps a constraint from being met: "
        "there the multipliers are far from their strength.",
    )
    lag_iterations: Tuned[int] = Tuned(
        24,
        "iterations",
        "Iterations after which friction is frozen anew, each after it was accepted; later only where the solve "
        "would end.",
        chosen_on="eight oblique impacts",
        breaks="With 6 instead of 24, two of the eight were off by a factor of three; with 24 all of them are within 1 "
        "%.",
    )
    lag_change: Tuned[float] = Tuned(
        0.05,
        "1",
        "Change of friction over its size up to which it stays as it was frozen within the descent.",
        breaks="A potential that changes with every iteration costs the last, quickest iterations.",
    )
    lag_wild_change: Tuned[float] = Tuned(
        0.5,
        "1",
        "Change of friction over its size beyond which it is not followed within the descent of a dynamic solve: the "
        "pose is far from equilibrium.",
        chosen_on="a sheet that a hand drags over a floor, eleven impacts, slide and stop, capstan; 0.2 is as good",
        breaks="Without it the dragged sheet takes 43 iterations per frame instead of 17; without following at all "
        "the capstan with friction 0.6 is 5 % off.",
    )
    lag_settled_change: Tuned[float] = Tuned(
        0.1,
        "1",
        "Change of friction over its size up to which the errors of motion that the lag may make count as allowed.",
        chosen_on="the same",
        breaks="With 0.5, and for loose stops only, a sheet that starts within the reach of a floor loses six times "
        "the velocity that friction can take.",
    )
    lag_step: Tuned[float] = Tuned(
        0.5,
        "1",
        "Length of a step from which on the pose that it leads to is worth freezing at: one that a collision or "
        "the line search cut short says little about where contacts will be. In static solves any step is.",
    )
    lag_rounds: Tuned[int] = Tuned(
        8, "rounds", "Times that a solve goes on because friction has changed where it would have ended."
    )
    lag_loose_rounds: Tuned[int] = Tuned(4, "rounds", "The same where a loose stop was met.")
    lag_allowed: Tuned[float] = Tuned(
        10.0,
        "1",
        "Errors that the lag of friction may make, over those that the solve allows: 1 % of the change of velocity.",
    )
    lag_corrected: Tuned[float] = Tuned(
        0.02,
        "1",
        "Change of friction over its size beyond which the last displacement is corrected by what the change "
        "makes of it.",
    )
    lag_creep: Tuned[float] = Tuned(
        3.0,
        "1",
        "Distance over that of the loose stop that a node may move by friction which changes by no more than "
        "`lag_change`.",
        chosen_on="`twist`, capstan",
        breaks="Without a bound, the capstan has steps with 1.4 times the tension.",
    )
    calm_residual: Tuned[float] = Tuned(
        0.5, "1", "Residual over the tolerance below which multipliers stay as they are."
    )
    slow_convergence: Tuned[float] = Tuned(
        0.1, "1", "Predicted decrease over the one before above which convergence is slow."
    )
    stalled_iterations: Tuned[int] = Tuned(
        8,
        "iterations",
        "In motion without contact, a solve gives up when it comes nearer by less than an order of magnitude in so "
        "many, after twice as many.",
        chosen_on="the first steps of `twist`, in which the flat sheet wrinkles",
        breaks="A sheet that buckles crawls along its wrinkles for 60 iterations, and two steps of half the length "
        "take four each: inertia makes the exact Hessian positive definite.",
    )
    stale_pattern: Tuned[float] = Tuned(
        1.25, "1", "A pattern this much larger than needed is thinned out.", breaks="Stale contact blocks cost fill-in."
    )
    factorisation_worth: Tuned[float] = Tuned(
        40.0,
        "solutions",
        "Solutions that a factorisation must be worth before an earlier one is tried. Matrices of smaller or "
        "looser sheets are worth 10 to 30.",
        chosen_on="dense balls of 40 000 faces",
        breaks="Matrices of smaller or looser sheets change more between iterations, and inexact directions make for "
        "more of these.",
    )
    direction_tolerance: Tuned[float] = Tuned(0.01, "1", "Error of a direction in the energy norm, relative.")
    missing_blocks: Tuned[float] = Tuned(
        0.06,
        "1",
        "Fraction of the blocks of contacts that may be missing in the pattern: conjugate gradients make up for these.",
    )
    missing_blocks_tolerance: Tuned[float] = Tuned(
        1e-3, "1", "Error of a direction in the energy norm, relative, where blocks are missing."
    )
    missing_blocks_iterations: Tuned[int] = Tuned(
        8,
        "iterations",
        "Iterations that a direction may take where blocks are missing. When it takes half of these, the pattern "
        "grows.",
    )
    conjugate_gradient_pause: Tuned[int] = Tuned(
        8, "matrices", "Most matrices that are factorised at once after conjugate gradients have failed."
    )
    turn_gauge: Tuned[float] = Tuned(
        1e-10,
        "1",
        "Fraction of their mean that is added to the stiffness of all turns.",
        breaks="Edges of faces without any stiffness do not turn.",
    )
    moment_of_motion: Tuned[float] = Tuned(
        1e-4,
        "1",
        "How far nodes go, over the activation distance, in the moment by which contact in motion is measured.",
    )
    candidate_margin: Tuned[float] = Tuned(
        0.25,
        "1",
        "Candidates are kept while no node strays farther than this fraction of the contact's reach from where "
        "they were found; on large sheets.",
        breaks="Larger values find candidates less often, but more of them.",
    )
    candidate_margin_faces: Tuned[float] = Tuned(
        1500.0,
        "faces",
        "On smaller sheets that margin is as wide as this number over that of the faces: a search costs as much "
        "there as many looks at the pairs it finds.",
        chosen_on="39 states of 260 to 6700 faces; see docs/solver.md",
        breaks="With 0.25 throughout, sheets below 700 faces took 1.2 times the time, those of 1000 to 3000 1.1 times.",
    )
    widest_candidate_margin: Tuned[float] = Tuned(
        4.0,
        "1",
        "Most that this margin is, over the contact's reach.",
        breaks="With 8, frames took up to 1.6 times as long.",
    )
    straying_nodes: Tuned[float] = Tuned(
        0.2,
        "1",
        "Fraction of the nodes that may stray: the candidates of these alone are then found anew, which takes "
        "about as much less time.",
        chosen_on="dense frames of crumple.json",
        breaks="With 0.02, collisions took 1.4 to 2 times as long.",
    )
    sweep_ahead: Tuned[float] = Tuned(
        4.0,
        "1",
        "How much farther than the last step got a sweep looks before it looks along the whole displacement.",
        breaks="What is found near an obstacle that has far to go is many times more than what stops it.",
    )
    compact_faces: Tuned[int] = Tuned(
        1500,
        "faces",
        "Faces below which a sheet is small: the parts of `solving.compact` serve it.",
        chosen_on="hands that fold, drag and crumple a sheet of 150 to 4000 faces",
        breaks="Elimination with bit sets takes time with the cube of the nodes; at 4000 faces nothing is gained.",
    )
    compact_margin: Tuned[float] = Tuned(
        0.2,
        "1",
        "Candidates of a small sheet serve for poses within this fraction of the mean edge from where they were found.",
        breaks="Smaller values search in nearly every iteration, larger ones look at many pairs that never touch.",
    )


TUNING = Tuning()
