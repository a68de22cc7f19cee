"""Texture coordinates: where on a picture each point of the pattern is."""

from __future__ import annotations

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats, Ints


def vertex_sheets(mesh: SheetMesh) -> Ints:
    """The sheet that each vertex belongs to, (vertex_count,)."""
    sheet = np.zeros(mesh.vertex_count, np.int32)
    sheet[mesh.faces.ravel()] = np.repeat(mesh.face_sheet, 3)
    return sheet


def pattern_boxes(mesh: SheetMesh) -> Floats:
    """Least and largest pattern coordinates of each sheet [m], (sheet_count, 2, 2)."""
    count = int(mesh.face_sheet.max(initial=-1)) + 1
    sheet, corners = np.repeat(mesh.face_sheet, 3), mesh.u[mesh.faces.ravel()]
    boxes = np.empty((count, 2, 2))
    boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
    np.minimum.at(boxes[:, 0], sheet, corners)
    np.maximum.at(boxes[:, 1], sheet, corners)
    return boxes


def texture_coordinates(mesh: SheetMesh, boxes: Floats | None = None, given: Floats | None = None) -> Floats:
    """Texture coordinates of each vertex, (vertex_count, 2): the pattern with each sheet's box scaled to 0..1, or the
    `given` ones (vertex_count, 2) of sheets that have any that are not zero.

    The first coordinate runs to the right, the second upwards, so that a picture of the sheet's proportions lies on it
    undistorted. `boxes` (sheet_count, 2, 2): give those of one frame (`pattern_boxes`) to all frames of a recording.
    A round outline loses and gains vertices in remeshing, and the picture would move with its box.
    """
    boxes = pattern_boxes(mesh) if boxes is None else boxes
    low, size = boxes[:, 0], boxes[:, 1] - boxes[:, 0]
    size = np.where(size > 0.0, size, 1.0)
    sheet = vertex_sheets(mesh)
    scaled: Floats = (mesh.u - low[sheet]) / size[sheet]
    if given is None or not given.any():
        return scaled
    has_own = np.zeros(len(boxes), bool)
    has_own[sheet[given.any(axis=1)]] = True
    return np.where(has_own[sheet][:, None], given, scaled)


def at_nodes(mesh: SheetMesh, values: Floats) -> Floats:
    """Values of vertices (vertex_count, d) at the nodes, (node_count, d); at a seam those of one of the vertices."""
    result = np.zeros((mesh.node_count, values.shape[1]))
    result[mesh.vertex_node] = values
    return result
