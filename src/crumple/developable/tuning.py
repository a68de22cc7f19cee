"""Tuned numbers of developable sheets. Lengths are over the spacing of vertices on the border."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned

PROTOTYPE = "a prototype of the loop: sides and corners of 10 cm of paper80 pushed together"


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    snap: Tuned[float] = Tuned(0.3, "1", "The end of a ruling takes a vertex of the border that is nearer.", PROTOTYPE)
    crowd: Tuned[float] = Tuned(0.6, "1", "Vertices of the border that nobody needs go where one is nearer.")
    stretch: Tuned[float] = Tuned(1.3, "1", "Longest gap of the border without a vertex.")
    cut_width: Tuned[float] = Tuned(
        5e-3, "1", "How far apart the lips of a cut are in the pattern where it begins: contact tells them apart by it."
    )
    tear_turn: Tuned[float] = Tuned(1.0, "rad", "Most by which a tear turns at its tip at once.")
    tip_sharpness: Tuned[float] = Tuned(
        3.0,
        "1",
        "By which the tension at the tip of a cut is larger than what the faces around it bear in the mean.",
        "a sheet of 10 cm with a slit of 2.5 cm, its legs pulled apart",
        "With 1 the lips of the slit tear before its tip does.",
    )
    tear_short: Tuned[float] = Tuned(0.6, "1", "Length of a tear where one of a whole spacing has no room.")
    tear_left: Tuned[float] = Tuned(0.6, "1", "A tear ends when less would be left between its tip and the border.")
    tear_trials: Tuned[int] = Tuned(3, "1", "Vertices of the border that are tried to tear in a frame.")
    least_band: Tuned[float] = Tuned(0.5, "1", "Narrower bands of a flat region do not become curved.", PROTOTYPE)
    apart: Tuned[float] = Tuned(
        0.8,
        "1",
        "Singular points are not put nearer to each other, nor to the border than half of it.",
        PROTOTYPE,
    )
    margin: Tuned[float] = Tuned(0.1, "1", "Part of a ruling at either end that gets no singular point.", PROTOTYPE)
    thin_angle: Tuned[float] = Tuned(
        0.01, "rad", "An edit that makes a triangle with a smaller angle is refused.", breaks="Slivers lock the sheet."
    )
    narrow_strip: Tuned[float] = Tuned(
        0.125,
        "1",
        "Triangles with the angle of half a strip of twice this width across the sheet are not refused.",
        breaks="With the angle alone a sheet of 10 cm with a spacing of 4 mm never bent: all strips were slivers.",
    )
    rest_frames: Tuned[int] = Tuned(
        3, "frames", "For which a region is left alone after an edit.", PROTOTYPE, "Edits go back and forth."
    )
    refused_frames: Tuned[int] = Tuned(15, "frames", "The same after an edit of a curved region was refused.")
    retry: Tuned[float] = Tuned(
        1.5,
        "1",
        "A flat region where an edit was refused is tried again at this times the compression.",
        PROTOTYPE,
    )
    forget: Tuned[float] = Tuned(
        0.98, "1", "By which that compression is multiplied in every frame: all is tried again."
    )
    held_weight: Tuned[float] = Tuned(0.01, "1", "By which the projection moves held nodes, over others.", PROTOTYPE)
    projection_softness: Tuned[float] = Tuned(
        1e-9, "1", "Added to the diagonal of the projection's system, over the largest entry: edges may be redundant."
    )
    projections: Tuned[int] = Tuned(8, "1", "Most iterations of the projection.", PROTOTYPE)
    projected: Tuned[float] = Tuned(1e-5, "1", "Strain of every edge at which the projection stops.", PROTOTYPE)
    guard_rounds: Tuned[int] = Tuned(
        5, "1", "Times that the projection is repeated with the pairs that were in its way kept apart."
    )
    refused_strain: Tuned[float] = Tuned(
        1e-3, "1", "An edit that leaves an edge more strained than this after the projection is refused.", PROTOTYPE
    )
    edit_gap: Tuned[float] = Tuned(0.5, "1", "Part of the least gap that is left at least after an edit.")
    softened: Tuned[float] = Tuned(
        0.1,
        "1",
        "Of the membrane of the material is left: the projection does the rest.",
        PROTOTYPE,
        "With all of it a ruling that is pushed along cannot shorten, and no singular point can appear on it.",
    )
    diagonal_stiffness: Tuned[float] = Tuned(
        3.0,
        "1",
        "How stiff the diagonals of a strip between rulings are, over what their lengths and areas would make them.",
        "a sheet of 10 cm with sides 10 % closer",
        "With 1 strips fold along diagonals rather than bend at rulings: a cylinder was uneven by 1.5 mm.",
    )
    solve_patience: Tuned[int] = Tuned(
        2, "iterations", "After which a step is solved well enough by the next two: `solver.patience`."
    )
    solve_energy: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Predicted decrease over the energy in play: `solver.tolerance`.",
        "figures 1 and 17 of [Schreck2015] with 190 faces",
        "Solved as motion is, to a fraction of the change of velocity, a sheet that is bent slowly took 5 to 12"
        " iterations, the last of which moved nodes by less than a micrometre; the projection moves them by 0.1 mm.",
    )
    solve_speed: Tuned[float] = Tuned(
        1e-2,
        "m/s",
        "Fastest correction of any node, 0.17 mm in a frame: `solver.speed_tolerance`.",
        "the same, and figure 22",
        "With 0.001 a crushed sheet took 60 iterations and steps of a sixteenth of a frame.",
    )
    fit_turn: Tuned[float] = Tuned(
        0.1, "rad", "Curved regions that turn less keep their rulings: noise of 0.2 mm turned rulings by as much."
    )
    fit_step: Tuned[float] = Tuned(0.05, "rad", "Most by which rulings turn towards those of a fitted cone at once.")
    fit_least: Tuned[float] = Tuned(0.05, "1", "Rulings whose ends would move less stay.")
    fit_room: Tuned[float] = Tuned(
        0.4,
        "1",
        "Rulings that turn leave so much between their ends.",
        breaks="Without it a region with one ruling at"
        " rest between others that turn was refused for its slivers, and all of them stayed: a twisted strip broke.",
    )
    fit_close: Tuned[float] = Tuned(0.6, "1", "A ruling whose ends are nearer to those of its neighbours goes.")
    fit_far: Tuned[float] = Tuned(1.7, "1", "Rulings whose ends are farther apart get one between them.")
    fit_wide: Tuned[float] = Tuned(
        2.0,
        "rulings",
        "Standard deviation of the weight of neighbours in the direction in which normals do not turn.",
        "a strip of 20 × 3 cm bent and twisted to a band of Möbius",
        "With only the next ones rulings were ragged.",
    )
    band_step: Tuned[float] = Tuned(0.25, "1", "First step of the search for the ends of a band.")
    band_finest: Tuned[float] = Tuned(1e-3, "1", "Last step of that search.")
    band_steps: Tuned[int] = Tuned(400, "1", "Most steps of that search.")
    clear_turn: Tuned[float] = Tuned(
        0.02,
        "rad",
        "Turn of the normal across a ruling from which on one can tell in which direction it does not turn.",
    )
    fit_fewest: Tuned[int] = Tuned(5, "1", "Rulings that a cone is fitted to, at least.")
    least_norm: Tuned[float] = Tuned(
        0.05, "1", "Weight of the norm of the curvature in its fit, over the mean weight of the lines."
    )
    short_line: Tuned[float] = Tuned(1.5, "1", "Shorter lines of a flat region are not looked at.")
    bend_within: Tuned[float] = Tuned(0.25, "1", "How far a place to bend at is from the edge of the region, at least.")
    guarded_gap: Tuned[float] = Tuned(
        0.5, "1", "Part of a gap, at most that at which contact begins, below which a guard does not let it fall."
    )
    fan_margin: Tuned[float] = Tuned(0.25, "1", "Part of a ruling of a fan at either end that gets no singular point.")
    breaking_length: Tuned[float] = Tuned(2.0, "1", "Shorter rulings do not break: there is no room.")
    breaking_trials: Tuned[int] = Tuned(4, "1", "Rulings that are tried to break in a frame, one after the other.")
    fineness: Tuned[float] = Tuned(
        12.0,
        "1",
        "Vertices of the border along a side of a square with the area of the sheet of a scene.",
        "[Schreck2015]: 1.2 / cm on 10 cm",
    )
    ghosts: Tuned[float] = Tuned(1.9, "1", "Spacing of nodes inside its flat regions.", PROTOTYPE)
    flat_start: Tuned[float] = Tuned(
        1e-2, "1", "How far from a plane it may start, over its size: jitter, which is not taken over."
    )
    damping: Tuned[float] = Tuned(2.0, "1/s", "Rate at which motion dies away.", PROTOTYPE)
    unevenness: Tuned[float] = Tuned(
        5e-4, "1", "Height of the middle of a new sheet, over its size: it knows where to bow."
    )
    signed_fold: Tuned[float] = Tuned(1e-4, "rad", "Folds that are flatter have no sign yet.")
    kink: Tuned[float] = Tuned(0.5, "rad", "Turn of the border at a node from which on it is a fold.")
    view_parts: Tuned[int] = Tuned(4, "1", "Strips that one strip is shown as: with 8 the projection was rough.")
    view_smooth: Tuned[float] = Tuned(
        0.3, "rad", "Turn across the last ruling of a curved region up to which it is shown smooth."
    )
    view_fold: Tuned[float] = Tuned(0.7, "rad", "The same from which on it is shown as a fold, with two normals.")
    view_fade: Tuned[float] = Tuned(
        0.08, "s", "In which the view goes from the map of an old structure to that of the new one."
    )
    view_bent: Tuned[float] = Tuned(
        0.015,
        "1",
        "While it does so, edges of the view are halved whose middles the old map has farther off.",
        "figures 1, 17, 18 and 22 of [Schreck2015]",
        "Without it, or with the lengths of edges kept, the view jumped by up to 7 mm: the new mesh has no nodes where"
        " the old map is bent.",
    )
    view_crossing: Tuned[float] = Tuned(
        1e-3, "m", "Intersections of the view that are less deep are shown while it does so: three pixels for 80 ms."
    )
    view_shares: Tuned[tuple[float, ...]] = Tuned(
        (1.0, 0.5),
        "1",
        "Parts of what is left of the old map that are tried until nothing intersects, then none of it.",
    )
    view_curved: Tuned[tuple[float, ...]] = Tuned(
        (1.0, 0.5, 0.0), "1", "Parts of the curvature of strips that are tried after that."
    )
    view_grid: Tuned[int] = Tuned(24, "cells", "Of the grid over the pattern, each way, in which faces are looked for.")
    view_fine: Tuned[float] = Tuned(0.3, "1", "Shorter ones are not.")
    view_coarse: Tuned[float] = Tuned(4.0, "1", "Longer ones always.")
    grip_rim: Tuned[float] = Tuned(0.6, "1", "A hand that is nearer to the border takes vertices of the border.")
    grip_reach: Tuned[float] = Tuned(
        1.05,
        "1",
        "There it takes those that are as near to the nearest.",
        breaks="With the nearest alone a sheet swings from a hand as from a pin.",
    )
    grip_near: Tuned[float] = Tuned(0.35, "1", "A hand inside takes a node that is nearer, and else makes one.")
    hand_stiffness: Tuned[float] = Tuned(
        2e2,
        "N/m",
        "Of a hand per node: it bends paper as if it were rigid, and lags where paper would have to stretch.",
    )
    hand_force: Tuned[float] = Tuned(
        4.0,
        "N",
        "Largest force of a hand: a sheet that is jammed stays behind it.",
        "figure 22 of [Schreck2015]: a sheet of 10 cm crushed by four hands",
        "Without it steps were cut to pieces where the sheet could not follow, a second a frame; with 1 N four hands do"
        " not crush a sheet.",
    )


TUNING = Tuning()
