"""Sheets and obstacles to start from."""

from crumple.shapes.obstacles import box, cylinder_surface, plane, sphere
from crumple.shapes.outline import outline
from crumple.shapes.sheets import cylinder, disk, moebius, rectangle, side_nodes

__all__ = [
    "box",
    "cylinder",
    "cylinder_surface",
    "disk",
    "moebius",
    "outline",
    "plane",
    "rectangle",
    "side_nodes",
    "sphere",
]
