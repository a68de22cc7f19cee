"""Tuned numbers of steps: their length, when Newton's method may stop, and how far a static solve may go."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    stuck_halvings: Tuned[int] = Tuned(3, "halvings", "Times that a step is halved because one of its phases is stuck.")
    critical_step_fraction: Tuned[float] = Tuned(
        0.5,
        "1",
        "Fraction of the critical step that is taken where it is not prescribed.",
        breaks="A stretched sheet is stiffer than at rest.",
    )
    explicit_lost: Tuned[float] = Tuned(
        0.1,
        "1",
        "Fraction of the sheets' size that elastic forces may move a node in one step: no stable step comes near it.",
    )
    static_step: Tuned[float] = Tuned(
        10.0, "s", "Step of the inertia that steadies a static solve: far longer than any elastic period of a sheet."
    )
    failed_step_factor: Tuned[float] = Tuned(0.5, "1", "Factor of a step that failed.")
    step_growth: Tuned[float] = Tuned(1.5, "1", "Most that a step may grow over the one before.")
    hold_after: Tuned[int] = Tuned(
        2, "times", "Times that a step is shortened before an obstacle without room is held back instead."
    )
    easy_iterations: Tuned[int] = Tuned(
        16,
        "iterations",
        "Newton iterations below which the step may grow.",
        chosen_on="frames of `crumple` and `fold` in dense contact",
        breaks="As for `hard_iterations`.",
    )
    hard_iterations: Tuned[int] = Tuned(
        32,
        "iterations",
        "Newton iterations above which the step is shortened.",
        chosen_on="frames of `crumple` and `fold` in dense contact",
        breaks="Iterations grow much more slowly than the step: the frames took 19 and 28 iterations in one step of 40 "
        "ms, 26 and 36 in two, 37 and 49 in four, 49 and 78 in eight, and ended with the same energies.",
    )
    shortest_for_work: Tuned[float] = Tuned(
        0.125,
        "1",
        "Steps are not shortened below this fraction of the longest for the sake of fewer iterations, and grow up to "
        "it however many they take.",
        breaks="A snapping facet costs about as many iterations in a short step as in a long one. Steps that had "
        "failed stayed short for frames of 1000 iterations.",
    )
    parting_span: Tuned[float] = Tuned(
        1e-3,
        "s",
        "Span of the implicit step from rest that moves sheets apart which start within the reach of contact: long "
        "enough for contact, short for elasticity and weight.",
    )
    path_safety: Tuned[float] = Tuned(0.9, "1", "Factor of the step that the error of the path asks for.")
    shortest_in_motion: Tuned[float] = Tuned(
        1.0 / 16.0,
        "1",
        "Steps are not shortened below this fraction of the longest for the sake of the path of a motion. The "
        "looser bound by the sheets' size holds for all.",
        breaks="An impact or a snap is sudden at any length.",
    )
    sudden_change: Tuned[float] = Tuned(
        0.05,
        "1",
        "Change of the velocities by contact within a step, over their size, from which on it is an impact.",
        chosen_on="two sheets that collide, `drop`, `demo` and `letter`",
        breaks="At 0.1 up to 1.9 % of the angular momentum are lost in collisions; at 0, all contact is sudden.",
    )
    impact_way: Tuned[float] = Tuned(
        0.01, "1", "How far sheets move beside each other in a step of an impact, over their size."
    )
    angular_defect: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Angular momentum that a step in contact may lose, over that of the sheets' motion at half their size.",
    )
    shortest_in_impact: Tuned[float] = Tuned(
        1.0 / 256.0, "1", "Steps are not shortened below this fraction of the longest for the sake of an impact."
    )
    before_meeting: Tuned[float] = Tuned(
        0.95, "1", "Most of a step that is left of it when surfaces meet at its end, or before."
    )
    hard_impact: Tuned[int] = Tuned(
        12,
        "iterations",
        "Newton iterations of a step that goes on with an impact from which on contact counts as dense.",
        chosen_on="`demo`, which takes 38 % more iterations without it; collisions of flat sheets take 10 at most",
        breaks="Not for sheets that nothing else holds, which would lose up to 1.15 % of their angular momentum.",
    )
    turning_sheets: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Angular momentum that a step of implicit Euler would lose, from which on steps are not dense.",
        chosen_on="a card that is flicked over a table: 3e-3; at most 2e-4 in `demo`, `drape`, `drop` and `flag`",
        breaks="Without it the card stops after three quarters of its way.",
    )
    pressed_sheets: Tuned[float] = Tuned(
        3.0,
        "1",
        "Impulse of contact over the momentum that it changes, up to which sheets that nothing holds collide freely.",
        chosen_on="tilted sheets that collide: 0.1 to 0.8",
    )
    known_friction: Tuned[float] = Tuned(
        0.5,
        "1",
        "Most that damping changes the forces of contact at the start of a stage if friction is to begin with them.",
        breaks="Friction that begins with forces which are let go at once holds what should slide.",
    )
    dense_opening: Tuned[float] = Tuned(
        0.05,
        "1",
        "Least opening of a pair in dense contact, over the activation distance, at which it is let go; not with "
        "TR-BDF2.",
        chosen_on="three states of a note that four hands drag at random, in steps of 0.25 to 17 ms",
        breaks="With what the rebound speed allows alone, steps of 0.25 to 2 ms take two to four times the iterations; "
        "with 0.05 as many as without damping. With TR-BDF2 card that falls at 1 m/s would bounce with 6 % of it.",
    )
    least_path_error: Tuned[float] = Tuned(
        2e-3, "1", "Fraction of the allowed error over the sheets' size that is always allowed: tremor."
    )
    dense_steps: Tuned[int] = Tuned(
        4, "steps", "Steps taken as in dense contact after the last that was too hard to be solved well."
    )
    needless_iterations: Tuned[int] = Tuned(
        160, "iterations", "Newton iterations over the longest step that motion in contact may cost."
    )
    static_patience: Tuned[int] = Tuned(
        10,
        "1",
        "Times more iterations that a static solve may take: it goes all the way, and a shorter step does not help it.",
    )
    slow_patience: Tuned[int] = Tuned(
        5,
        "iterations",
        "Newton iterations in dense contact after which a rougher solution is enough where convergence is slow.",
    )
    slow_factor: Tuned[float] = Tuned(
        30.0, "1", "How much rougher: by default an error of 3 % in the change of velocity."
    )
    torn_iterations: Tuned[int] = Tuned(
        200,
        "iterations",
        "Iterations at most of a solve as accurate as tearing asks for: one on a mesh that a crack has changed.",
        breaks="Where fresh lips are in each other's way, steps are cut short without end: others are tried sooner.",
    )
    torn_pause: Tuned[int] = Tuned(
        2,
        "iterations",
        "Most iterations of static solves of sheets that tear without the exact Hessian after it was found to be "
        "indefinite: near equilibrium it converges at once, and the other one by a third in each iteration.",
    )
    dense_pause: Tuned[int] = Tuned(
        8,
        "iterations",
        "Iterations without the exact Hessian after a failure in dense contact, where it is hardly ever positive "
        "definite.",
        chosen_on="eight dense and five calm frames of `crumple.json` and `fold.json`",
        breaks="Of the 55 attempts in the dense frames none succeeded, in the calm ones 3 of 12.",
    )
    static_stride: Tuned[float] = Tuned(
        0.2,
        "1",
        "Most that an iteration of a static solve moves a node, over the size of the sheets.",
        breaks="Far from equilibrium the quadratic model sends a sheet that is hardly held far away, past what would "
        "have held it.",
    )
    static_reach: Tuned[float] = Tuned(
        5.0,
        "1",
        "How far a node may get in a static solve, over the size of the sheets and beyond what handles move, "
        "before it is clear that nothing holds the sheet.",
    )
    resting_layers: Tuned[float] = Tuned(
        10.0, "1", "Layers of sheets that may lie on each other without a warning of what contact stores."
    )
    quiet_speed: Tuned[float] = Tuned(1e-3, "m/s", "Changes of velocity that matter even where there is no weight.")
    dense_quiet_speed: Tuned[float] = Tuned(
        0.01, "m/s", "Motion of the whole sheet at this speed is the least energy that the looser stop is judged by."
    )


TUNING = Tuning()
