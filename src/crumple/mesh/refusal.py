"""Why an edit was refused: the codes that the kernels return."""

from __future__ import annotations

from enum import IntEnum

OK = 0
NO_CAPACITY = 1
DEAD = 2
BOUNDARY_EDGE = 3
SEAM = 4
LABEL = 5
MATERIAL = 6
PROTECTED = 7
INVERTED = 8
DUPLICATE_EDGE = 9
LINK = 10
SHAPE = 11
PINCH = 12
RING = 13
PARAMETER = 14


class Refusal(IntEnum):
    """Answer of an edit kernel; anything but `OK` leaves the mesh as it was."""

    OK = OK
    """Done."""
    NO_CAPACITY = NO_CAPACITY
    """No free slots: `grow` the buffers and call again."""
    DEAD = DEAD
    """The half-edge does not exist (any more)."""
    BOUNDARY_EDGE = BOUNDARY_EDGE
    """A flip or cut of a boundary edge, or a boundary node that would leave the boundary."""
    SEAM = SEAM
    """A flip across a seam, or a seam node that would leave its seam."""
    LABEL = LABEL
    """A flip of a labelled edge, or a node that would leave its labelled line."""
    MATERIAL = MATERIAL
    """A flip between material groups, or a node that would leave the border of its group."""
    PROTECTED = PROTECTED
    """The node to be removed is protected."""
    INVERTED = INVERTED
    """A face would be inverted or have no area in the pattern."""
    DUPLICATE_EDGE = DUPLICATE_EDGE
    """Two nodes would be joined by two edges."""
    LINK = LINK
    """The nodes of the edge have a common neighbour beyond the faces of the edge."""
    SHAPE = SHAPE
    """The outline, a seam or a labelled line would change its shape by more than the tolerance."""
    PINCH = PINCH
    """A whole sector of faces, or a node, would vanish."""
    RING = RING
    """More faces around the node than `RING_CAPACITY`."""
    PARAMETER = PARAMETER
    """The split parameter is not strictly between 0 and 1."""
