"""Tuned numbers of scenes: what a crease pattern that is given as a scene has for all that its file does not say."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    pattern_drag: Tuned[float] = Tuned(
        5.0, "kg/(m² s)", "Drag of the air that slows the sheet of a pattern down, which may take its time."
    )
    pattern_stage: Tuned[float] = Tuned(
        0.4, "s", "Time of each of the simple folds of a pattern that is folded by several of them."
    )
    pattern_start: Tuned[float] = Tuned(
        0.25,
        "1",
        "Fraction of the fold at the start, where the pattern allows it.",
        breaks="From flat, vertices may pop in either direction.",
    )
    pattern_folded: Tuned[float] = Tuned(0.8, "s", "When all creases have their angles.")
    pattern_duration: Tuned[float] = Tuned(1.0, "s", "The end of the run of a pattern.")
    pattern_frame: Tuned[float] = Tuned(0.04, "s", "Time of a frame of a pattern.")
    pattern_paced: Tuned[float] = Tuned(
        0.2,
        "m",
        "Longer side of a pattern up to which these times hold: sheets bend, and come to rest in air, in times that "
        "grow with the square of their size at least.",
        chosen_on="a crossing of two creases in sheets of 0.27 and 0.54 m",
        breaks="In 0.8 s facets of 0.27 m are bent by the air instead of folding; the crossing in 0.54 m ended between "
        "65° and 164°.",
    )
    pattern_activation: Tuned[float] = Tuned(
        0.025,
        "1",
        "Gap below which layers of a pattern repel each other, over the edges of the mesh: flat folds end where the "
        "layers beside them are a gap apart.",
        chosen_on="a square twist of 59 mm",
        breaks="It ends at 172° with 0.1 and at 175° with 0.025, in as many iterations.",
    )
    pattern_largest_activation: Tuned[float] = Tuned(1e-3, "m", "Bound of that gap.")
    pattern_spring_length: Tuned[float] = Tuned(
        0.05,
        "1",
        "L* in the stiffness B/L* of the springs of creases that do not fit, over the edges of the mesh.",
        chosen_on="crane, hyperbolic paraboloid, square twist",
        breaks="Of 180°, set creases reach 48°, 77° and 172°; springs of 0.2 N m/m/rad 93°, 145° and 173°, of 1 "
        "N m/m/rad 149° and 174° (not tried on the crane).",
    )
    pattern_per_facet: Tuned[float] = Tuned(3.0, "1", "Edges of the mesh along a facet of a pattern.")
    pattern_finest: Tuned[float] = Tuned(36.0, "1", "Most edges of the mesh along the longer side of a pattern.")
    pattern_coarsest: Tuned[float] = Tuned(15.0, "1", "Fewest edges of the mesh along the longer side of a pattern.")
    pattern_most_faces: Tuned[int] = Tuned(
        2000,
        "faces",
        "Faces beyond which the mesh of a pattern is made coarser: a first look should take seconds.",
        breaks="Narrow facets have many faces at any size that resolves the others.",
    )
    pattern_coarser: Tuned[float] = Tuned(1.25, "1", "Factor by which such a mesh is made coarser at a time.")
    pattern_longest_edge: Tuned[float] = Tuned(
        1.0 / 8.0, "1", "Edges up to which it is made coarser, over the longer side of the pattern."
    )


TUNING = Tuning()
