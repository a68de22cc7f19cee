"""A frame as an object of trimesh, meshio or PyVista."""

from __future__ import annotations

from typing import Any

import numpy as np

from crumple.export.surface import Surface, surface_of
from crumple.runtime.packages import load_package
from crumple.state import State


def to_trimesh(frame: State | Surface) -> Any:
    """A `trimesh.Trimesh` with texture coordinates; `face_attributes` hold damage, material and sheet.

    Here as in the other two a node on a seam appears once for each of its vertices, whose node is the attribute `node`.
    """
    trimesh = load_package("trimesh", "to_trimesh")
    surface = _surface(frame)
    visual = load_package("trimesh.visual", "to_trimesh").TextureVisuals(uv=surface.texture.copy())
    return trimesh.Trimesh(
        surface.vertex_x,
        surface.mesh.faces.astype(np.int64),
        visual=visual,
        vertex_attributes={"velocity": surface.vertex_v, "node": surface.mesh.vertex_node},
        face_attributes=dict(surface.face_data),
        process=False,
    )


def to_meshio(frame: State | Surface) -> Any:
    """A `meshio.Mesh` of triangles: point data `texture`, `pattern` [m], `velocity` [m/s], `node`; cell data `damage`,
    `material`, `sheet`."""
    meshio = load_package("meshio", "to_meshio")
    surface = _surface(frame)
    return meshio.Mesh(
        surface.vertex_x,
        [("triangle", surface.mesh.faces.astype(np.int64))],
        point_data=point_data(surface),
        cell_data={name: [values] for name, values in surface.face_data.items()},
    )


def to_pyvista(frame: State | Surface) -> Any:
    """A `pyvista.PolyData` with the data of `to_meshio`; `texture` is its active texture coordinates."""
    pyvista = load_package("pyvista", "to_pyvista")
    surface = _surface(frame)
    data = pyvista.PolyData.from_regular_faces(surface.vertex_x.copy(), surface.mesh.faces)
    for name, values in point_data(surface).items():
        data.point_data[name] = values
    for name, values in surface.face_data.items():
        data.cell_data[name] = values
    data.point_data.active_texture_coordinates_name = "texture"
    return data


def point_data(surface: Surface) -> dict[str, np.ndarray]:
    """What VTK and meshio get of each vertex, (vertex_count, …)."""
    return {
        "texture": surface.texture,
        "pattern": surface.mesh.u,
        "velocity": surface.vertex_v,
        "node": surface.mesh.vertex_node,
    }


def _surface(frame: State | Surface) -> Surface:
    return frame if isinstance(frame, Surface) else surface_of(frame)
