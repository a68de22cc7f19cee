"""Tuned numbers of sessions: lines that are drawn on sheets by hand, and the floor."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    line_tolerance: Tuned[float] = Tuned(
        0.15,
        "1",
        "How far a line that is drawn by hand may be from the points it was drawn through, over the mean edge: a hand "
        "shakes by more, and the mesh shows no more.",
        chosen_on="a note of 15 cm with 250 faces, circles and waves",
    )
    line_spacing: Tuned[float] = Tuned(
        0.7,
        "1",
        "How near to each other corners of a drawn line may be, over the mean edge.",
        breaks="Corners that are nearer put short edges into the mesh, and small faces into every later step.",
    )
    line_detour: Tuned[float] = Tuned(
        0.3,
        "1",
        "How near a line may pass a node that must not move, over the shortest edge at that; a nearer one goes "
        "through it.",
        breaks="Without it faces of a thousandth of an edge are left between line and node.",
    )
    line_bent_angle: Tuned[float] = Tuned(
        0.3, "rad", "Nodes where the sheet is bent more than this across an edge do not move onto a line: the sheet "
        "would be another one."
    )  # fmt: skip
    edit_gap_left: Tuned[float] = Tuned(
        0.5, "1", "What must be left of the least gap of contacts when a tool has changed a sheet, as with remeshing."
    )
    edit_strain: Tuned[float] = Tuned(
        1e-4,
        "1",
        "Mean strain (root mean square by area) by which nodes that move onto a line may stretch a sheet.",
        chosen_on="lines on a note of 15 cm that four hands crumple",
        breaks="Lines on bent sheets stretched them by up to 0.4 J, ten thousand times what they stored, and the sheet "
        "was thrown off.",
    )
    floor_width: Tuned[float] = Tuned(
        10.0, "1", "Width of a floor that a session makes, over the diagonal of the sheets at rest."
    )
    floor_least_width: Tuned[float] = Tuned(1.0, "m", "Least width of such a floor.")
    floor_gap: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Gap between sheets and a floor that appears below them, over that at which contact begins, from which on it "
        "may: one that appears nearer would throw the sheet up.",
    )
    pressed_angle: Tuned[float] = Tuned(
        2.0, "rad", "Rest angle of a crease that is pressed, unless another one is asked for: about what is left of a "
        "fold in paper that was pressed flat and let go."
    )  # fmt: skip
    kept_script: Tuned[int] = Tuned(
        16_000_000, "B", "Packed size of what was done in a session that is kept to be replayed. Beyond it nothing is "
        "kept, of which an event tells: a longer script could be neither saved nor read in the memory of a small "
        "machine.",
        chosen_on="a corner of the note of `crumple play` dragged without a pause: 27 B a frame and "
        "hand, 0.14 MB a minute (2.6 MB as Python objects), so 2.8 hours of one hand, 40 minutes of four",
    )  # fmt: skip
    kept_faces: Tuned[int] = Tuned(
        100_000, "faces", "Faces of all states together that a session keeps to go back to, about 100 MB: hundreds of "
        "small sheets, the last one of a large sheet."
    )  # fmt: skip


TUNING = Tuning()
