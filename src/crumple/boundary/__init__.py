"""What the world does to a sheet: motions, handles, attachments and obstacles. No file access."""

from crumple.boundary.attachments import Attachment, pair_in_order, pair_nearest
from crumple.boundary.handles import (
    SIDES,
    Handle,
    circle_anchors,
    select_ball,
    select_boundary,
    select_box,
    select_indices,
    select_label,
    select_nearest,
    select_sheet,
    select_side,
)
from crumple.boundary.motions import (
    Key,
    Motion,
    Rate,
    affine,
    link_order,
    make_motion,
    rotation_matrix,
    rotation_vector,
)
from crumple.boundary.obstacles import Obstacle, make_obstacle

__all__ = [
    "SIDES",
    "Attachment",
    "Handle",
    "Key",
    "Motion",
    "Obstacle",
    "Rate",
    "affine",
    "circle_anchors",
    "link_order",
    "make_motion",
    "make_obstacle",
    "pair_in_order",
    "pair_nearest",
    "rotation_matrix",
    "rotation_vector",
    "select_ball",
    "select_boundary",
    "select_box",
    "select_indices",
    "select_label",
    "select_nearest",
    "select_sheet",
    "select_side",
]
