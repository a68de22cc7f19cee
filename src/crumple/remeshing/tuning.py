"""Tuned numbers of remeshing, of sizing and of the projection after a remeshing."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    split_limit: Tuned[float] = Tuned(
        1.1,
        "1",
        "Length in the metric from which an edge is split. The margin keeps the mesh calm: curvatures of a "
        "crumpled sheet change with every edit.",
        chosen_on="a crumpled sheet; see docs/remeshing.md",
        breaks="With 1 a third of the nodes change in every frame.",
    )
    strained_edits: Tuned[float] = Tuned(
        0.9,
        "1",
        "Fraction of the strain (of squares) that a material allows up to which an edit may take a face, unless those "
        "that it replaces are stretched more.",
        chosen_on="ARCSim's flag, 12 frames",
        breaks="Without it faces were stretched to 1.16 with a limit of 1.05. With 0.7, where the barrier begins, a "
        "third more faces stay; with 0.97 steps start so near the limit that some take twice as many iterations.",
    )
    coarse_turn: Tuned[float] = Tuned(
        0.5,
        "rad",
        "Turn of the normal along an edge from which on a bend is too sharp for its mesh: a radius of two edges.",
        chosen_on="cloth over a ball on meshes of 943 and 5000 faces",
    )
    coarse_area: Tuned[float] = Tuned(0.1, "1", "Fraction of the area that has to be so sharp before it is told.")
    coarse_wave: Tuned[float] = Tuned(
        6.0,
        "edges",
        "Waves of fewer edges take the wavelength of the mesh.",
        chosen_on="sheets stretched between clamps",
    )
    coarse_wave_part: Tuned[float] = Tuned(
        0.6,
        "1",
        "Fraction of the bending (area times curvature squared) in such waves before it is told.",
        chosen_on="sine waves on all styles of meshes: at least 0.96 with 6 edges per wave, 0.33 to 0.5 with 12, "
        "0.05 on a cylinder",
    )
    standing_wave: Tuned[float] = Tuned(
        0.1,
        "1",
        "Kinetic energy over that of the sheets up to which waves are judged: those that run through a sheet after a "
        "blow are short on any mesh.",
    )
    coarse_compression: Tuned[float] = Tuned(
        1e-4,
        "1",
        "Line load over the membrane stiffness up to which a sheet that does not wrinkle is left in peace.",
        chosen_on="sheets stretched by 10 % between clamps",
    )
    coarse_floor: Tuned[float] = Tuned(
        1.3, "1", "Mean edge of a face over the smallest that is asked for up to which remeshing has done what it may."
    )
    visible_turn: Tuned[float] = Tuned(
        0.01, "rad", "Root mean square of the turn along an edge below which a sheet counts as flat."
    )
    calm_frames: Tuned[int] = Tuned(
        4,
        "frames",
        "A large mesh that hardly has to be refined is left as it is but for every so many frames.",
        breaks="A remeshing costs as much as a few Newton iterations, and disturbs what is at rest.",
    )
    calm_faces: Tuned[int] = Tuned(2000, "faces", "Faces from which on a mesh may be left as it is.")
    calm_long_edges: Tuned[float] = Tuned(2e-3, "1", "Fraction of the edges that may be too long for that.")
    calm_excess: Tuned[float] = Tuned(1.5, "1", "Length of the longest of them over the longest allowed.")
    waiting_edges: Tuned[int] = Tuned(8192, "edges", "Edges that wait to be checked for flips.")
    faces_per_area: Tuned[float] = Tuned(4.0, "1", "Faces per unit of area in the metric.")
    projection_whole: Tuned[float] = Tuned(0.8, "1", "Fraction of the nodes above which all of them move.")
    projection_regularisation: Tuned[float] = Tuned(
        1e-6,
        "1",
        "μ per node over the (least) membrane stiffness [N/m] of the sheets.",
        breaks="At the minimum the accelerations are wrong by μ|x − x⁰|/m, so μ has to be small beside the stiffness "
        "to bending too, or curved sheets keep their jitter.",
    )
    projection_iterations: Tuned[int] = Tuned(5, "iterations", "Newton iterations for each tolerance at least.")
    projection_work: Tuned[int] = Tuned(
        6_000, "iterations × nodes", "Iterations times nodes for each tolerance: a small mesh may take its time."
    )
    projection_tolerances: Tuned[tuple[float, ...]] = Tuned(
        (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10),
        "1",
        "Fractions of the energy after remeshing below which the projection stops; most of that energy is what it "
        "removes. The next one is tried while the accelerations are still too large, unless the iterations did "
        "not suffice for this one.",
    )
    projection_peak: Tuned[float] = Tuned(
        1.2, "1", "Peak acceleration of the free nodes over that before remeshing which is good enough."
    )
    projection_gain: Tuned[float] = Tuned(
        2.0,
        "1",
        "Energy after the projection over the larger one of those before remeshing and before the projection, above "
        "which nodes stay where they are.",
        chosen_on="a sheet with slits whose slivers relax against their damping",
        breaks="Forces that damping balances, of faces which are no more, are wanted of the new ones: nodes were moved "
        "by half of the sheet.",
    )
    nodes_per_chunk: Tuned[int] = Tuned(256, "nodes", "Nodes that one thread handles at a time.")
    remeshing_passes: Tuned[int] = Tuned(
        60, "passes", "Passes of splits, and of collapses; a pass of splits halves all edges that are too long."
    )
    cure_rounds: Tuned[int] = Tuned(3, "rounds", "Attempts to be rid of faces below the aspect bound in the end.")
    tree_age: Tuned[int] = Tuned(32, "faces per edit", "Faces for each edit that a tree of the faces serves.")
    flip_sweeps: Tuned[int] = Tuned(
        4, "sweeps", "Sweeps over the edges before the first split, after the first only where something has changed."
    )
    split_gap: Tuned[float] = Tuned(0.1, "1", "Relative gap that pairs which only a split brings into being may have.")
    combining_pivots: Tuned[int] = Tuned(
        32, "pivots", "Pivots per face; a handful is normal, and the result is valid wherever the loop stops."
    )
    split_aspect: Tuned[float] = Tuned(
        0.1,
        "1",
        "Fraction of the aspect bound below which not even a split may go; faces in between are cured by flips "
        "and collapses.",
    )
    budget_used: Tuned[float] = Tuned(
        0.85,
        "1",
        "Faces that a sizing field is scaled to ask for, over the budget: the estimate is that much off.",
        chosen_on="a note of 15 cm that two hands fold, with a budget of 300 faces: 282 and 297 in the end",
    )


TUNING = Tuning()
