"""Tuned numbers of cracks. *The edge length at tips* is `tip_load.tip_size`."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians

import numpy as np

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    glide_trials: Tuned[int] = Tuned(8, "trials", "Places that are tried for a gliding tip.")
    drawn_back: Tuned[float] = Tuned(0.6, "1", "Fraction of a fresh cut by which its tip may be drawn back.")
    glide_extrapolation: Tuned[float] = Tuned(
        3.0, "1", "Times that a solution is extrapolated beyond the distance between the last two."
    )
    changes_per_step: Tuned[int] = Tuned(200, "changes", "Times that the mesh may change within a step.")
    begins_per_step: Tuned[int] = Tuned(4, "places", "Places where the sound sheet may be tried to tear within a step.")
    first_glide: Tuned[float] = Tuned(
        0.02, "1", "The shortest distance that is tried first for a tip that glides, over the edge length at tips."
    )
    crack_pace: Tuned[float] = Tuned(
        0.6, "1", "First guess of how far a crack runs, over how far the hands have moved in the step."
    )
    running_away: Tuned[float] = Tuned(
        2.0,
        "1",
        "Distance that a crack has run in a step, over how far the hands have moved or an edge at tips, beyond which "
        "it goes on in whole edges.",
    )
    bursting_load: Tuned[float] = Tuned(
        10.0,
        "1",
        "Γ from which on a crack in motion bursts: it runs with all others that do, and does not look for its rest.",
    )
    bursting_stride: Tuned[float] = Tuned(
        0.6, "1", "How far such a crack runs at least before the step is solved again, over the edge length at tips."
    )
    fastest_crack: Tuned[float] = Tuned(
        0.5, "1", "Largest speed of such a crack over that of shear waves: from there on cracks branch."
    )
    bursting_edges: Tuned[float] = Tuned(
        8.0, "1", "Way of waves in the longest step in which cracks burst, over the edge length at tips."
    )
    far_load: Tuned[float] = Tuned(3.0, "1", "Γ from which on a crack is expected to run as far as that.")
    led_load: Tuned[float] = Tuned(
        0.6, "1", "Γ at the start of a step below which a crack is not expected to run on in it."
    )
    shortest_lead: Tuned[float] = Tuned(
        0.01, "1", "Distance below which a tip is not led, over the edge length at tips."
    )
    led_tolerance: Tuned[float] = Tuned(
        0.15,
        "1",
        "By how much Γ may be off 1 where a tip was led to before it is moved: the next step leads more or less.",
    )
    pace_memory: Tuned[float] = Tuned(
        0.5, "1", "Weight of the steps before in how fast a crack is expected to run; the rest is that of the last one."
    )
    least_turn: Tuned[float] = Tuned(
        0.1,
        "1",
        "Distance that a crack has run before it turns although nothing drives it straight on, over the edge "
        "length at tips.",
    )
    sound_near_tips: Tuned[float] = Tuned(
        3.0, "1", "Distance from tips within which the sheet does not begin to tear, over the edge length at tips."
    )
    sound_near_pins: Tuned[float] = Tuned(
        2.0,
        "1",
        "Distance from held nodes within which the sheet does not begin to tear, over the edge length at tips.",
    )
    lip_growth: Tuned[float] = Tuned(
        4.0, "1", "Times that a lip may be farther from the middle after a frame than before."
    )
    lip_opening: Tuned[float] = Tuned(
        0.25, "1", "Most that a lip may be from the middle, over the least height of the faces at it."
    )
    lip_rounds: Tuned[int] = Tuned(8, "rounds", "Times that nodes in contact are put back; after that, all are.")
    kerf: Tuned[float] = Tuned(
        1e-6, "m", "ε: half the width of a fresh cut; far below the thickness of any sheet, far above rounding."
    )
    kerf_fraction: Tuned[float] = Tuned(
        1e-3,
        "1",
        "The same over the edge length at tips, where that is more and cracks burst.",
        breaks="Below, lips of coarse shells move by a thousand times their range within a step.",
    )
    kerf_at_rest: Tuned[float] = Tuned(0.25, "1", "Half the distance of copies in `node_rest` over ε.")
    parted_lips: Tuned[float] = Tuned(
        10.0, "1", "How far the lips behind a fresh cut are apart before its own part in the same direction, over ε."
    )
    copies_apart: Tuned[int] = Tuned(
        4, "1", "Nodes that are less than this many ε apart in `node_rest` are copies of one node."
    )
    snap_to_edge: Tuned[float] = Tuned(
        radians(10.0), "rad", "A crack takes an edge that is this close to the direction it wants to go."
    )
    first_cut: Tuned[float] = Tuned(
        0.03,
        "1",
        "Length of the edge that is cut when a crack runs on, over the edge length at tips: from there the tip glides.",
    )
    nearly_whole_edge: Tuned[float] = Tuned(
        0.85, "1", "A crack that runs this fraction of an edge runs along all of it."
    )
    unsplit_end: Tuned[float] = Tuned(0.02, "1", "Fraction of an edge at its ends in which it is not split.")
    piece_distance: Tuned[float] = Tuned(
        6.0,
        "1",
        "Distance between pieces in `node_rest` over the reach of contact.",
        breaks="Half of it must be more than the reach, whatever their lips have gained.",
    )
    along_edge: Tuned[float] = Tuned(0.02, "rad", "A direction within this angle of an edge runs along it.")
    resistance_window: Tuned[float] = Tuned(
        2.0, "1", "Half the width of the strip in which a crack feels folds, over the edge length at tips."
    )
    resistance_parts: Tuned[int] = Tuned(
        4, "parts", "Parts into which the sides of faces are divided for the integral over the strip."
    )
    rest_tolerance: Tuned[float] = Tuned(0.05, "1", "Error of Γ = 1 at which a tip may rest.")
    unloaded: Tuned[float] = Tuned(1e-3, "1", "Γ below which tips are not loaded at all.")
    slack: Tuned[float] = Tuned(0.3, "1", "Γ below which a sheet is slack, whatever Γ is.")
    held_glide: Tuned[float] = Tuned(
        0.7,
        "1",
        "Energy that a glide of a tip sets free over what the stress around it promises, below which an edge is cut "
        "instead: long edges of the lips hold them together.",
    )
    least_rest_growth: Tuned[float] = Tuned(1.3, "1", "Least factor by which a distance that is too short grows.")
    most_rest_growth: Tuned[float] = Tuned(6.0, "1", "Largest factor by which a distance that is too short grows.")
    most_retreat: Tuned[float] = Tuned(
        2.5, "1", "How far a tip that is too far ahead is drawn back, over how far it was the time before."
    )
    rest_margin: Tuned[float] = Tuned(
        0.05, "1", "Fraction of the distances that are left at either end which is not tried."
    )
    rest_narrow: Tuned[float] = Tuned(
        0.03,
        "1",
        "Fraction of the distance within which it is known well enough.",
        breaks="Where the sheet snaps, there is none at which Γ = 1.",
    )
    near_rest: Tuned[float] = Tuned(
        3.0, "1", "Γ, or 1/Γ, up to which two trials tell how fast the load of a tip falls near its rest."
    )
    size_growth: Tuned[float] = Tuned(3.0, "1", "Distance from a tip over the edge length allowed there.")
    tip_reach: Tuned[float] = Tuned(
        3.0, "1", "Radius of the faces that take part in a tip's motion, over the edge length at tips."
    )
    tip_reach_coarse: Tuned[float] = Tuned(1.5, "1", "The same radius at least, over the longest edge at the tip.")
    lip_turn: Tuned[float] = Tuned(
        cos(radians(60.0)),
        "1",
        "Cosine of the angle of a turn at which a lip ends: at the mouth of a crack begins the border of the sheet.",
    )
    tip_directions: Tuned[int] = Tuned(
        72, "directions", "Directions that are tried at a tip, apart from those of its edges."
    )
    process_zone: Tuned[float] = Tuned(
        5.0, "1", "Radius around a tip within which bends do not count as creases, over the edge length at tips."
    )
    moving_lips: Tuned[float] = Tuned(
        1.0, "1", "Length of the lips that take part when a tip moves aside, over the edge length at tips."
    )
    fold_reach: Tuned[float] = Tuned(
        6.0,
        "1",
        "Radius within which the fold of a flap moves aside with a tip, wholly up to `tip_reach` less, likewise.",
        breaks="Where a fold is larger, flaps do not tear inwards as much as they should.",
    )
    clear_of_held_lips: Tuned[float] = Tuned(
        0.5,
        "1",
        "Radius of the faces that take part in a tip's motion, at most, over the distance to a node of its lips that "
        "is held.",
        breaks="At 1, the force on a tip is a seventh of that on a finer mesh where a lip is held 2 edges behind it.",
    )
    fold_from_tips: Tuned[float] = Tuned(0.8, "1", "The same radius at most, over the distance to the next tip.")
    largest_kink: Tuned[float] = Tuned(
        float(np.cos(np.radians(75.0))),
        "1",
        "Cosine of the largest angle by which cracks kink: pure shear turns them by 70.5°.",
    )
    largest_turn_of_lines: Tuned[float] = Tuned(
        float(np.cos(np.radians(120.0))),
        "1",
        "Cosine of the largest angle by which cracks turn to follow a perforation.",
    )
    field_inner: Tuned[float] = Tuned(
        0.7, "1", "Radius around a tip from which on the field of stress is fitted, over the edge length at tips."
    )
    field_outer: Tuned[float] = Tuned(4.0, "1", "Radius up to which it is, likewise.")
    field_narrowest: Tuned[float] = Tuned(
        2.5, "1", "Radius that must be free of borders, held nodes and other tips for such a fit, likewise."
    )
    field_axis: Tuned[float] = Tuned(
        2.0, "1", "Length of the lips whose mean way is that of the crack in such a fit, likewise."
    )
    field_good: Tuned[float] = Tuned(
        0.35, "1", "Part of the tension that such a field does not explain and is trusted nevertheless."
    )
    field_bad: Tuned[float] = Tuned(0.6, "1", "Part from which on there is no such field.")
    stale_begin: Tuned[float] = Tuned(
        2.0,
        "1",
        "How far a tip may run in a step before what drove it at the start tells nothing of where it turns, over the "
        "edge length at tips.",
    )
    akin_begin: Tuned[float] = Tuned(
        cos(radians(40.0)), "1", "Cosine of the angle up to which what drove a tip at the start tells where it turns."
    )
    field_faces: Tuned[int] = Tuned(12, "faces", "The least number of faces for such a fit, which has five unknowns.")
    least_glide_room: Tuned[float] = Tuned(
        0.05, "1", "Room for gliding below which an edge is cut instead, over the edge length at tips."
    )
    straight_run: Tuned[float] = Tuned(
        0.3, "1", "Distance that a crack runs straight before it may turn again, over the edge length at tips."
    )
    turning: Tuned[float] = Tuned(
        cos(radians(10.0)),
        "1",
        "Cosine of the angle by which a crack turns without a new edge: below, it runs straight on.",
    )
    tips_together: Tuned[float] = Tuned(6.0, "1", "Distance of tips that run together, over the edge length at tips.")
    tie: Tuned[float] = Tuned(0.9, "1", "Γ of a tip over that of the most loaded one, above which both are cut on.")
    trial_accuracy: Tuned[float] = Tuned(
        1e-4,
        "1",
        "Error of the energy in solves, over what tearing takes along one edge at a tip: the force on a tip is a "
        "difference.",
    )


TUNING = Tuning()
