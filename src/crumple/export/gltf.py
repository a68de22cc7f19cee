"""glTF 2.0 in one binary file (GLB) that browsers and Blender play.

glTF has no meshes that change their topology. With one mesh for all frames, every frame is a morph target and the
weights fade from one to the next. With changing topology every frame is an object of its own, and the animation scales
all but one of them to nothing; there is no other way that players agree on.

Specification: https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from crumple.export.clip import Clip
from crumple.export.mesh_files import mean_normals, weld_corners
from crumple.export.normals import face_normals
from crumple.export.surface import Solid, Surface
from crumple.runtime.errors import InputError
from crumple.runtime.reading import read_regular
from crumple.runtime.typing import Bools, Floats, Ints

FLOAT, UNSIGNED = 5126, 5125
VERTEX_DATA, INDICES = 34962, 34963
Z_UP_TO_Y_UP = [-float(np.sqrt(0.5)), 0.0, 0.0, float(np.sqrt(0.5))]
"""Quaternion (x, y, z, w): a quarter turn about x."""
PAPER, GLASS = 0, 1
MIME = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def write_gltf(clip: Clip, path: Path, texture: Path | None = None) -> None:
    """Write the clip as GLB: metres, y up as glTF demands, times from 0; the picture `texture` is embedded."""
    document = _Document(clip.times - clip.times[0])
    document.set_look(texture)
    (_add_morphing if clip.constant else _add_flipbook)(document, clip)
    path.write_bytes(document.encode())


def _add_morphing(document: _Document, clip: Clip) -> None:
    """Each sheet as one mesh with a morph target per frame.

    Points are split where the last frame is creased. There they have normals of their own, which agree in frames in
    which the sheet is smooth.
    """
    last = clip.snapshot(clip.frames[-1]).surface.sheets(len(clip.sheet_names))
    welded = [weld_corners(sheet) for sheet in last]
    positions: list[list[Floats]] = [[] for _ in last]
    normals: list[list[Floats]] = [[] for _ in last]
    solids = []
    for snapshot in clip:
        for k, sheet in enumerate(snapshot.surface.sheets(len(last))):
            faces, vertex, _ = welded[k]
            positions[k].append(_single(sheet.vertex_x[vertex]))
            normals[k].append(_single(mean_normals(sheet, faces, len(vertex))))
        solids.append(snapshot.solids)
    for k, (faces, vertex, _) in enumerate(welded):
        document.add_morph(clip.sheet_names[k], faces, positions[k], normals[k], last[k].texture[vertex], PAPER)
    _add_solids(document, solids)


def _add_flipbook(document: _Document, clip: Clip) -> None:
    """Each sheet as one object per frame, of which one at a time has a size."""
    solids = []
    for index, snapshot in enumerate(clip):
        shown = np.arange(len(clip.frames)) == index
        for name, sheet in zip(clip.sheet_names, snapshot.surface.sheets(len(clip.sheet_names)), strict=True):
            faces, x, normal, texture = _corner_points(sheet)
            node = document.add_morph(f"{name}_{snapshot.frame:06d}", faces, [x], [normal], texture, PAPER)
            document.show_during(node, shown)
        solids.append(snapshot.solids)
    _add_solids(document, solids)


def _corner_points(sheet: Surface) -> tuple[Ints, Floats, Floats, Floats]:
    """Faces, and positions, normals and texture coordinates of their points."""
    faces, vertex, group = weld_corners(sheet)
    return faces, _single(sheet.vertex_x[vertex]), _single(sheet.normals[group]), sheet.texture[vertex]


def _add_solids(document: _Document, frames: list[tuple[Solid, ...]]) -> None:
    """Obstacles as meshes, with morph targets when they move; flat shaded."""
    for index in range(len(frames[0])):
        moments = [solids[index] for solids in frames]
        corners = [_single(solid.points[solid.faces].reshape(-1, 3)) for solid in moments]
        faces = np.arange(len(corners[0]), dtype=np.int32).reshape(-1, 3)
        normals = [_flat_normals(points, faces) for points in corners]
        if all(np.array_equal(points, corners[0]) for points in corners):
            corners, normals = corners[:1], normals[:1]
        node = document.add_morph(moments[0].name, faces, corners, normals, None, GLASS)
        document.show_during(node, np.array([solid.active for solid in moments]))


class _Document:
    """A glTF document that grows: the JSON tree and the buffer it points into."""

    def __init__(self, times: Floats) -> None:
        self._buffer = bytearray()
        self._times = _single(times)
        self._tree: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "crumple"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"name": "crumple", "rotation": Z_UP_TO_Y_UP, "children": []}],
            "meshes": [],
            "accessors": [],
            "bufferViews": [],
        }
        self._channels: list[dict[str, Any]] = []
        self._samplers: list[dict[str, Any]] = []
        self._clock: int | None = None

    def set_look(self, texture: Path | None) -> None:
        """The materials PAPER and GLASS."""
        paper: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": 0.7}
        if texture is None:
            paper["baseColorFactor"] = [0.82, 0.8, 0.76, 1.0]
        else:
            kind = MIME.get(texture.suffix.lower())
            if kind is None:
                raise InputError("export --texture", "glTF takes PNG or JPEG pictures", str(texture))
            self._tree["images"] = [{"bufferView": self._put(read_regular(texture)), "mimeType": kind}]
            self._tree["textures"] = [{"source": 0}]
            paper["baseColorTexture"] = {"index": 0}
        glass = {"baseColorFactor": [0.45, 0.55, 0.65, 0.2], "metallicFactor": 0.0, "roughnessFactor": 0.3}
        self._tree["materials"] = [
            {"name": "sheet", "doubleSided": True, "pbrMetallicRoughness": paper},
            {"name": "obstacle", "doubleSided": True, "alphaMode": "BLEND", "pbrMetallicRoughness": glass},
        ]

    def add_morph(
        self,
        name: str,
        faces: Ints,
        positions: list[Floats],
        normals: list[Floats],
        texture: Floats | None,
        material: int,
    ) -> int:
        """A mesh that has each of the `positions` (n, 3) and `normals` (n, 3) at one of the times; its node.

        The first are the base, the others morph targets, of which one at a time has weight 1.
        """
        attributes = {
            "POSITION": self._accessor(positions[0], VERTEX_DATA, bounds=True),
            "NORMAL": self._accessor(normals[0], VERTEX_DATA),
        }
        if texture is not None:  # glTF counts the second coordinate from the top of the picture
            attributes["TEXCOORD_0"] = self._accessor(_single(texture * [1.0, -1.0] + [0.0, 1.0]), VERTEX_DATA)
        primitive: dict[str, Any] = {
            "attributes": attributes,
            "indices": self._accessor(faces.ravel().astype(np.uint32), INDICES),
            "material": material,
        }
        targets = [
            {
                "POSITION": self._accessor(x - positions[0], VERTEX_DATA, bounds=True),
                "NORMAL": self._accessor(normal - normals[0], VERTEX_DATA),
            }
            for x, normal in zip(positions[1:], normals[1:], strict=True)
        ]
        mesh: dict[str, Any] = {"name": name, "primitives": [primitive]}
        if targets:
            primitive["targets"] = targets
            mesh["weights"] = [0.0] * len(targets)
        self._tree["meshes"].append(mesh)
        self._tree["nodes"].append({"name": name, "mesh": len(self._tree["meshes"]) - 1})
        node = len(self._tree["nodes"]) - 1
        self._tree["nodes"][0]["children"].append(node)
        if targets:
            weights = np.eye(len(positions), dtype=np.float32)[:, 1:]
            self._animate(node, "weights", self._all_times(), weights.ravel(), "LINEAR")
        return node

    def show_during(self, node: int, shown: Bools) -> None:
        """Let a node have a size only at the times (n,) at which it is shown."""
        if shown.all():
            return
        change = np.flatnonzero(np.diff(shown, prepend=not shown[0]))
        scale = np.repeat(shown[change].astype(np.float32)[:, None], 3, axis=1)
        self._tree["nodes"][node]["scale"] = scale[0].tolist()
        self._animate(node, "scale", self._accessor(self._times[change], None, bounds=True), scale, "STEP")

    def encode(self) -> bytes:
        """The GLB file: a header, the JSON chunk, the binary chunk."""
        if self._channels:
            self._tree["animations"] = [
                {"name": "run", "channels": self._channels, "samplers": self._samplers},
            ]
        self._tree["buffers"] = [{"byteLength": len(self._buffer)}]
        text = json.dumps(self._tree, separators=(",", ":"), ensure_ascii=True).encode()
        chunks = [(b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", bytes(self._buffer) + b"\0" * self._spare)]
        body = b"".join(np.uint32(len(data)).tobytes() + kind + data for kind, data in chunks)
        return b"glTF" + np.array([2, 12 + len(body)], np.uint32).tobytes() + body

    @property
    def _spare(self) -> int:
        """Bytes to the next multiple of four."""
        return -len(self._buffer) % 4

    def _all_times(self) -> int:
        """The accessor of the times of all frames."""
        if self._clock is None:
            self._clock = self._accessor(self._times, None, bounds=True)
        return self._clock

    def _animate(self, node: int, quantity: str, times: int, values: np.ndarray, interpolation: str) -> None:
        sampler = {"input": times, "output": self._accessor(values, None), "interpolation": interpolation}
        self._samplers.append(sampler)
        target = {"node": node, "path": quantity}
        self._channels.append({"sampler": len(self._samplers) - 1, "target": target})

    def _put(self, data: bytes, target: int | None = None) -> int:
        """A buffer view of `data`, which starts at a multiple of four."""
        self._buffer += b"\0" * self._spare
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self._buffer), "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        self._buffer += data
        self._tree["bufferViews"].append(view)
        return len(self._tree["bufferViews"]) - 1

    def _accessor(self, values: np.ndarray, target: int | None, *, bounds: bool = False) -> int:
        """An accessor of an array of float32 or uint32, (n,), (n, 2) or (n, 3)."""
        kind = "SCALAR" if values.ndim == 1 else f"VEC{values.shape[1]}"
        accessor: dict[str, Any] = {
            "bufferView": self._put(np.ascontiguousarray(values).tobytes(), target),
            "componentType": FLOAT if values.dtype == np.float32 else UNSIGNED,
            "count": len(values),
            "type": kind,
        }
        if bounds:
            rows = values.reshape(len(values), -1)
            accessor["min"], accessor["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self._tree["accessors"].append(accessor)
        return len(self._tree["accessors"]) - 1


def _flat_normals(points: Floats, faces: Ints) -> Floats:
    """The normal of its face at each corner, (3 face_count, 3)."""
    normal = face_normals(points, faces)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return _single(np.repeat(normal / np.where(length > 0.0, length, 1.0), 3, axis=0))


def _single(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float32)
