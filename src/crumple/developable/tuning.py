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
    softened: Tuned[float] = Tuned(
        0.1,
        "1",
        "Of the membrane of the material is left: the projection does the rest.",
        PROTOTYPE,
        "With all of it a ruling that is pushed along cannot shorten, and no singular point can appear on it.",
    )
    fit_turn: Tuned[float] = Tuned(
        0.1, "rad", "Curved regions that turn less keep their rulings: noise of 0.2 mm turned rulings by as much."
    )
    fit_step: Tuned[float] = Tuned(0.05, "rad", "Most by which rulings turn towards those of a fitted cone at once.")
    fit_least: Tuned[float] = Tuned(0.05, "1", "Rulings whose ends would move less stay.")
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
    unevenness: Tuned[float] = Tuned(
        5e-4, "1", "Height of the middle of a new sheet, over its size: it knows where to bow."
    )
    signed_fold: Tuned[float] = Tuned(1e-4, "rad", "Folds that are flatter have no sign yet.")
    kink: Tuned[float] = Tuned(0.5, "rad", "Turn of the border at a node from which on it is a fold.")
    view_parts: Tuned[int] = Tuned(4, "1", "Strips that one strip is shown as: with 8 the projection was rough.")
    view_fold: Tuned[float] = Tuned(0.6, "rad", "Turn across a ruling from which on it is shown as a fold.")
    hand_stiffness: Tuned[float] = Tuned(
        2e2,
        "N/m",
        "Of a hand per node: it bends paper as if it were rigid, and lags where paper would have to stretch.",
    )


TUNING = Tuning()
