"""Shapes whose statistics are known."""

from __future__ import annotations

import numpy as np

from crumple.analysis.shape import SheetShape, measure_shape
from crumple.geometry.curvature import shape_curvature
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.shapes.obstacles import sphere
from crumple.shapes.sheets import rectangle

THICKNESS = 1e-4
FOIL = Material.isotropic("foil", young=1e9, poisson=0.0, thickness=THICKNESS, density=0.1, yield_curvature=100.0)


def shape_of(mesh: SheetMesh, x: np.ndarray, **fields: np.ndarray) -> SheetShape:
    return measure_shape(mesh, np.ascontiguousarray(x, np.float64), (FOIL,), **fields)


def loose_patches(count: int, radius: float, side: float, seed: int = 0) -> SheetShape:
    """Small triangles spread evenly over a ball and turned at random."""
    random = np.random.default_rng(seed)
    outward = random.normal(size=(count, 3))
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    center = outward * radius * random.uniform(size=(count, 1)) ** (1 / 3)
    frame = np.linalg.qr(random.normal(size=(count, 3, 3)))[0][:, :2]
    flat = side * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    x = (center[:, None] + np.einsum("ck,nkd->ncd", flat - flat.mean(axis=0), frame)).reshape(-1, 3)
    mesh = make_sheet_mesh(np.tile(flat, (count, 1)), np.arange(3 * count).reshape(-1, 3), node_rest=x)
    return shape_of(mesh, x)


def shell(radius: float, subdivisions: int = 3) -> SheetShape:
    """A sphere sewn from triangles: every face has its own piece of pattern."""
    points, faces = sphere(radius, subdivisions)
    corners = points[faces]
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    along = np.linalg.norm(e, axis=1)
    height = np.linalg.norm(np.cross(e, f), axis=1) / along
    u = np.zeros((len(faces), 3, 2))
    u[:, 1, 0] = along
    u[:, 2] = np.stack([np.einsum("ij,ij->i", e, f) / along, height], axis=1)
    mesh = make_sheet_mesh(
        u.reshape(-1, 2),
        np.arange(3 * len(faces)).reshape(-1, 3),
        vertex_node=faces.ravel().astype(np.int32),
        node_rest=points,
    )
    return shape_of(mesh, points)


def sheet(width: float, height: float, columns: int, rows: int) -> tuple[SheetMesh, np.ndarray]:
    return rectangle(width, height, kind="right", divisions=(columns, rows))


def rolled(radius: float, width: float, height: float, columns: int, rows: int) -> SheetShape:
    """A sheet bent to a cylinder along its width."""
    mesh, x = sheet(width, height, columns, rows)
    turn = x[:, 0] / radius
    return shape_of(mesh, np.stack([radius * np.sin(turn), x[:, 1], radius * np.cos(turn)], axis=1))


def accordion(folds: int, pleat: float, height: float, angle: float, columns: int = 6, rows: int = 9) -> SheetShape:
    """`folds` straight folds by `angle` [rad], up and down in turn, `pleat` [m] apart, creased for good.

    Each pleat is `columns` columns of triangles wide.
    """
    mesh, x = sheet((folds + 1) * pleat, height, (folds + 1) * columns, rows)
    slope = 0.5 * angle
    s = mesh.node_rest[:, 0]
    part = np.minimum((s / pleat + 1e-9).astype(int), folds)
    rest = s - part * pleat
    z = np.where(part % 2 == 0, rest, pleat - rest) * np.sin(slope)
    world = np.stack([s * np.cos(slope), x[:, 1], z], axis=1)
    bent = shape_of(mesh, world)
    strain = shape_curvature(mesh, bent.x, bent.stencil)
    damage = np.sqrt(strain[:, 0] ** 2 + strain[:, 1] ** 2 + 2 * strain[:, 2] ** 2) / FOIL.yield_curvature
    return shape_of(mesh, world, plastic_curvature=strain, damage=damage)
