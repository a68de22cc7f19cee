"""Shapes and meshes that several tests of plasticity bend."""

from typing import NamedTuple

import numpy as np

from crumple.geometry.curvature import curvature_stencil
from crumple.mesh import SheetMesh
from crumple.plasticity import insert_polyline
from crumple.shapes import rectangle

WIDTH, HEIGHT = 0.08, 0.05
MIDDLE = np.array([[0.5 * WIDTH, -1.0], [0.5 * WIDTH, 1.0]])
"""A line across the sheet, from beyond one side to beyond the other."""


def sheet(kind="equilateral", size=0.006):
    """A small flat sheet."""
    return rectangle(WIDTH, HEIGHT, size, kind=kind)


def roll(u, curvature, angle=0.0):
    """Isometric cylinder around the direction perpendicular to `angle`, normals outward."""
    d = np.array([np.cos(angle), np.sin(angle)])
    s, p = u @ d, u @ np.array([-d[1], d[0]])
    along, height = np.sin(curvature * s) / curvature, np.cos(curvature * s) / curvature
    return np.ascontiguousarray(np.stack([along * d[0] - p * d[1], along * d[1] + p * d[0], height], 1))


def fold(u, angle, at=0.5 * WIDTH):
    """The half u > `at` turned down by `angle`: a mountain fold, positive."""
    s = u[:, 0] - at
    right = s > 0.0
    x = np.where(right, at + s * np.cos(angle), u[:, 0])
    return np.ascontiguousarray(np.stack([x, u[:, 1], np.where(right, -s * np.sin(angle), 0.0)], 1))


class Line(NamedTuple):
    """A mesh with a line in it, positions x that followed, a mask of the hinges on the line."""

    mesh: SheetMesh
    x: np.ndarray
    hinges: np.ndarray


def insert(mesh, x, line, **options) -> Line:
    """A sheet at x with edges along a line."""
    done = insert_polyline(mesh, line, **options)
    return Line(done.mesh, done.change.node_operator @ x, done.hinges)


def creased(kind, size, label=0) -> Line:
    """A sheet with edges along `MIDDLE`."""
    return insert(*sheet(kind, size), MIDDLE, label=label)


def inner_faces(mesh, margin=0.0):
    """Faces with three hinges, farther than `margin` from the outline."""
    middle = mesh.u[mesh.faces].mean(axis=1)
    inside = np.all((middle > margin) & (middle < np.array([WIDTH, HEIGHT]) - margin), axis=1)
    return inside & np.all(curvature_stencil(mesh).face_hinge >= 0, axis=1)
