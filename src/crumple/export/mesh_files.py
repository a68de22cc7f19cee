"""Surfaces as the bytes of OBJ, PLY and STL files: one file per frame."""

from __future__ import annotations

import io

import numpy as np

from crumple.export.normals import face_normals
from crumple.export.surface import Surface
from crumple.runtime.typing import Floats, Ints

MATERIAL = "sheet"
"""Name of the only material of an OBJ file."""


def encode_obj(surface: Surface, names: list[str], material_file: str | None = None) -> bytes:
    """A Wavefront OBJ file: nodes as `v`, texture coordinates as `vt`, normals as `vn`, an object per sheet.

    Positions have nine digits, so that they come back as the same single-precision numbers.
    """
    text = io.StringIO()
    text.write("# metres, z up\n")
    if material_file:
        text.write(f"mtllib {material_file}\n")
    for key, rows in (("v", surface.x), ("vt", surface.texture), ("vn", surface.normals)):
        np.savetxt(text, rows, fmt=key + " %.9g" * rows.shape[1])
    mesh = surface.mesh
    corners = np.stack([mesh.face_nodes, mesh.faces, surface.corner_groups], axis=2).reshape(-1, 9) + 1
    for k, name in enumerate(names):
        text.write(f"o {'_'.join(name.split())}\n")
        if material_file:
            text.write(f"usemtl {MATERIAL}\n")
        np.savetxt(text, corners[mesh.face_sheet == k], fmt="f" + " %d/%d/%d" * 3)
    return text.getvalue().encode()


def encode_material(picture: str) -> bytes:
    """The MTL file that lays the file `picture` on the sheets of an OBJ file."""
    return f"newmtl {MATERIAL}\nKd 1 1 1\nmap_Kd {picture}\n".encode()


def encode_ply(surface: Surface) -> bytes:
    """A binary PLY file: vertices with normals, velocities `vx vy vz` and texture coordinates `s t`, and faces.

    PLY knows no texture coordinates per corner, so a node on a seam appears once for each of its vertices. Faces have
    corners only, for widespread readers (meshio 5.3) stumble over more.
    """
    rows = np.concatenate(
        [
            surface.vertex_x,
            mean_normals(surface, surface.mesh.faces, surface.mesh.vertex_count),
            surface.vertex_v,
            surface.texture,
        ],
        axis=1,
    )
    names = ("x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz", "s", "t")
    faces = np.empty(surface.mesh.face_count, [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, surface.mesh.faces
    head = ["ply", "format binary_little_endian 1.0", "comment metres, z up", f"element vertex {len(rows)}"]
    head += [f"property float {name}" for name in names]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header"]
    return ("\n".join(head) + "\n").encode() + rows.astype("<f4").tobytes() + faces.tobytes()


def encode_stl(surface: Surface) -> bytes:
    """A binary STL file: triangles without connectivity, in metres."""
    normal = face_normals(surface.x, surface.mesh.face_nodes)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    rows = np.zeros(surface.mesh.face_count, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    rows["normal"] = normal / np.where(length > 0.0, length, 1.0)
    rows["corners"] = surface.x[surface.mesh.face_nodes]
    return b"crumple, metres".ljust(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()


def mean_normals(surface: Surface, faces: Ints, count: int) -> Floats:
    """One unit normal for each of `count` points, (count, 3): the mean of those of its corners, which `faces`
    (face_count, 3) numbers by point."""
    total = np.zeros((count, 3))
    np.add.at(total, faces.ravel(), surface.normals[surface.corner_groups.ravel()])
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0.0, total / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])


def weld_corners(surface: Surface) -> tuple[Ints, Ints, Ints]:
    """The fewest points that carry one normal and one texture coordinate each: faces (face_count, 3) of points, and the
    vertex and the normal of each point."""
    pairs = np.stack([surface.mesh.faces.ravel(), surface.corner_groups.ravel()], axis=1)
    points, corner = np.unique(pairs, axis=0, return_inverse=True)
    return corner.reshape(-1, 3).astype(np.int32), points[:, 0], points[:, 1]
