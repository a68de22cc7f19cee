"""Tuned numbers of creases, of plastic strain and of the plastic embedding."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    on_line: Tuned[float] = Tuned(
        1e-3, "1", "A point is on a line when it is nearer than this fraction of the mean edge length of the sheet."
    )
    snap_to_line: Tuned[float] = Tuned(
        0.3, "1", "Free vertices nearer to the line than this fraction of their shortest edge are moved onto it."
    )
    straight_outline: Tuned[float] = Tuned(
        1e-9,
        "1",
        "Sine of the turn of an outline up to which it goes straight on, so that its vertices may slide along it.",
    )
    least_kept_area: Tuned[float] = Tuned(
        0.25, "1", "A vertex is not moved when a face around it would keep less than this fraction of its area."
    )
    line_rounds: Tuned[int] = Tuned(64, "rounds", "Rounds of splits per segment; two or three are needed.")
    sharp_angle: Tuned[float] = Tuned(
        0.5, "rad", "Hinges with larger rest angles than this are creases; a well resolved bend has some 0.3 per hinge."
    )
    crease_thicknesses: Tuned[float] = Tuned(
        10.0,
        "1",
        "Width of a crease over the thickness of the sheet: the turn over which its moment falls is this long.",
        chosen_on="a strip folded by a hand",
        breaks="With more, creases on fine meshes weaken more slowly; below half an edge it has no effect on a mesh.",
    )
    embedding_membrane_weight: Tuned[float] = Tuned(
        0.3,
        "1",
        "Default of w. Folds and cylinders are reproduced exactly with any w.",
        chosen_on="a round bump, which is not developable",
        breaks="The bump keeps 4, 10, 20 % of its curvature as residual for 0.1, 0.3, 1; faces collapse sooner the "
        "smaller w is.",
    )
    embedding_largest_angle: Tuned[float] = Tuned(
        3.0,
        "rad",
        "Rest angles in the embedding are kept below this.",
        breaks="The dihedral angle jumps at π, where no step descends.",
    )
    embedding_gauge: Tuned[float] = Tuned(
        1e-10,
        "1",
        "Weight of staying where one is, as a fraction of the mean diagonal: fixes rigid motions and hardly "
        "anything else.",
    )
    embedding_stiffer_gauge: Tuned[float] = Tuned(1e-6, "1", "The same when rounding made the system indefinite.")
    embedding_hold: Tuned[float] = Tuned(
        1e2,
        "1",
        "Weight of staying, in the same unit, for nodes where a jump of the energy is in the way of all others.",
    )
    embedding_hold_trials: Tuned[int] = Tuned(
        4, "trials", "Directions that are tried in one move, each with more nodes held or a stiffer gauge."
    )
    embedding_backtracks: Tuned[int] = Tuned(
        8, "halvings", "Lengths of a direction that are tried, each half of the one before."
    )
    embedding_settled: Tuned[float] = Tuned(
        1e-6,
        "rad²",
        "Predicted decrease below which the embedding is left as it is: one hinge that is off by a milliradian.",
    )
    embedding_still: Tuned[float] = Tuned(
        1e-5,
        "rad²",
        "Decrease that moving a node alone would bring, below which the node is still; see `Embedding.advance`.",
    )
    moved_rings: Tuned[int] = Tuned(
        2,
        "rings",
        "Rings of faces around what has changed which move with it, in the embedding and in the projection after "
        "a remeshing.",
    )
    embedding_whole: Tuned[float] = Tuned(0.5, "1", "Fraction of the nodes above which all of them move.")
    small_mesh_nodes: Tuned[int] = Tuned(
        1000,
        "nodes",
        "Nodes of a mesh of which all move always, in the embedding and in the projection after a remeshing: in a "
        "calm, stiff sheet even those far from a change feel it a little.",
    )
    embedding_calm: Tuned[float] = Tuned(
        2e-3,
        "rad",
        "Root mean square by which rest angles may change before all nodes move.",
        breaks="A crease that bends on turns what is on either side of it, however far away.",
    )
    embedding_frames: Tuned[int] = Tuned(
        4,
        "frames",
        "The embedding of a sheet that is not remeshed follows in every so many frames: nothing but pictures and files "
        "reads it then.",
        chosen_on="small sheets under two hands (`crumple bench live`)",
        breaks="A step of it takes 10 (153 faces) to 16 % (627 faces) of a frame.",
    )
    smallest_plastic_strain: Tuned[float] = Tuned(
        -0.4,
        "1",
        "Plastic Green strains are kept above this (a length of 0.45 of the original).",
        breaks="At -½ a face would have no length.",
    )
    work_parts: Tuned[int] = Tuned(
        8, "parts", "Parts, an even number, into which the path of yielding is divided to find its work."
    )


TUNING = Tuning()
