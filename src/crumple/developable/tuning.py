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
    forget: Tuned[float] = Tuned(0.98, "1", "By which that compression is multiplied in every frame: all is tried again.")
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


TUNING = Tuning()
