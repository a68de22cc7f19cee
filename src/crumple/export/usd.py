"""OpenUSD: all frames in one file, meshes whose topology changes with time (needs the package usd-core)."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

from crumple.export.clip import Clip
from crumple.export.surface import Snapshot, Solid, Surface
from crumple.export.usd_physics import DeformablePhysics

SHARP = 10.0
"""Crease sharpness that USD takes as infinitely sharp."""
SHEET_COLOR, SOLID_COLOR, SOLID_OPACITY = (0.82, 0.8, 0.76), (0.45, 0.55, 0.65), 0.2


def write_usd(clip: Clip, path: Path, texture: str | None = None) -> None:
    """Write the clip: metres, z up, time codes in recorded frames; `texture` is the picture's path beside the file.

    Below /World a mesh per sheet and per obstacle, with UsdPreviewSurface materials. With one mesh for all frames
    topology, texture coordinates and creases are written once, without time. What the sheets are made of is written as
    `usd_physics` says, if the recording has its model.
    """
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(clip.rate)
    stage.SetFramesPerSecond(clip.rate)
    codes = clip.codes
    stage.SetStartTimeCode(float(codes[0]))
    stage.SetEndTimeCode(float(codes[-1]))
    world = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    writer = _Writer(stage, clip, texture)
    for code, snapshot in zip(codes, clip, strict=True):
        writer.add(snapshot, float(code))
    try:
        is_written = stage.GetRootLayer().Export(str(path))
    except Tf.ErrorException:  # several lines of C++; what matters is that the system did not take it
        is_written = False
    if not is_written:
        raise OSError(errno.EIO, "the system did not take all of it; is the disk full?", str(path))


class _Writer:
    """Adds one snapshot after the other to a stage."""

    def __init__(self, stage: Any, clip: Clip, texture: str | None) -> None:
        self._stage, self._clip = stage, clip
        self._time: Any = None
        paper = _material(stage, "sheet", SHEET_COLOR, texture=texture)
        glass = _material(stage, "obstacle", SOLID_COLOR, opacity=SOLID_OPACITY)
        names = [f"/World/{Tf.MakeValidIdentifier(name)}" for name in clip.sheet_names]
        self._sheets = [self._define(name, paper, SHEET_COLOR, 1.0) for name in names]
        self._taken, self._glass = set(names), glass
        self._solids: dict[str, Any] = {}
        self._shown: dict[str, tuple[np.ndarray, bool]] = {}
        self._last: dict[tuple[str, str], tuple[int, np.ndarray, bool]] = {}
        model = clip.recording.present_model()
        self._physics = DeformablePhysics(stage, model) if model is not None and model.materials else None

    def add(self, snapshot: Snapshot, code: float) -> None:
        """Write the values at a time code."""
        self._time = code
        first = snapshot.frame == self._clip.frames[0]
        for sheet, surface in enumerate(snapshot.surface.sheets(len(self._sheets))):
            if first and self._physics is not None:
                self._physics.add_body(self._sheets[sheet].GetPrim(), surface, sheet)
            self._add_surface(self._sheets[sheet], surface, first)
        for index, solid in enumerate(snapshot.solids):
            self._add_solid(f"{index}", solid)

    def _add_surface(self, mesh: Any, surface: Surface, first: bool) -> None:
        api = UsdGeom.PrimvarsAPI(mesh)
        if first or not self._clip.constant:
            when = Usd.TimeCode.Default() if self._clip.constant else self._time
            self._put_topology(mesh, surface.mesh.face_nodes, when)
            st = api.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying)
            texture = self._unlike(mesh, "st", surface.texture, surface.mesh.faces)
            st.Set(Vt.Vec2fArray.FromNumpy(_single(texture)), when)
            st.SetIndices(Vt.IntArray.FromNumpy(_ints(surface.mesh.faces.ravel())), when)
            if self._physics is not None:
                pattern = self._unlike(mesh, "pattern", surface.mesh.u, surface.mesh.faces)
                self._physics.add_rest(mesh.GetPrim(), surface, pattern, when)
            creases = surface.creases
            mesh.CreateCreaseIndicesAttr().Set(Vt.IntArray.FromNumpy(_ints(creases.ravel())), when)
            mesh.CreateCreaseLengthsAttr().Set(Vt.IntArray.FromNumpy(np.full(len(creases), 2, np.int32)), when)
            mesh.CreateCreaseSharpnessesAttr().Set(Vt.FloatArray.FromNumpy(np.full(len(creases), SHARP, "f4")), when)
        nodes = surface.mesh.face_nodes
        self._put_points(mesh, self._unlike(mesh, "points", surface.x, nodes))
        velocities = self._unlike(mesh, "velocities", surface.v, nodes)
        mesh.CreateVelocitiesAttr().Set(Vt.Vec3fArray.FromNumpy(_single(velocities)), self._time)
        # As a primvar the normals may be indexed: one per smooth group instead of one per corner.
        normals = api.CreatePrimvar("normals", Sdf.ValueTypeNames.Normal3fArray, UsdGeom.Tokens.faceVarying)
        values = self._unlike(mesh, "normals", surface.normals, surface.corner_groups)
        normals.Set(Vt.Vec3fArray.FromNumpy(_single(values)), self._time)
        normals.SetIndices(Vt.IntArray.FromNumpy(_ints(surface.corner_groups.ravel())), self._time)
        damage = api.CreatePrimvar("damage", Sdf.ValueTypeNames.FloatArray, UsdGeom.Tokens.uniform)
        values = self._unlike(mesh, "damage", surface.face_data["damage"], nodes)
        damage.Set(Vt.FloatArray.FromNumpy(_single(values)), self._time)
        damage.SetIndices(Vt.IntArray.FromNumpy(np.arange(len(nodes), dtype=np.int32)), self._time)

    def _unlike(self, mesh: Any, name: str, values: np.ndarray, elements: np.ndarray) -> np.ndarray:
        """The values, with a last row repeated where there are as many as at the time before but for other `elements`.

        Between two times USD blends arrays of equal length, row by row, whatever they belong to: of two meshes that
        happen to have as many points it would make one of splinters. Arrays of different length it holds.
        """
        key = (str(mesh.GetPath()), name)
        count, before, longer = self._last.get(key, (-1, elements, False))
        if not np.array_equal(before, elements):
            longer = len(values) == count
        if longer:
            values = np.concatenate([values, values[-1:]])
        self._last[key] = len(values), elements, longer
        return values

    def _add_solid(self, key: str, solid: Solid) -> None:
        """Obstacles keep their faces; points and visibility are written when they change."""
        new = key not in self._solids
        if new:
            name = f"/World/{Tf.MakeValidIdentifier(solid.name)}"
            name = name if name not in self._taken else f"{name}_{key}"
            self._taken.add(name)
            self._solids[key] = self._define(name, self._glass, SOLID_COLOR, SOLID_OPACITY)
            self._put_topology(self._solids[key], solid.faces, None)
        mesh = self._solids[key]
        points, active = self._shown.get(key, (None, None))
        if points is None or not np.array_equal(points, solid.points):
            self._hold_before(mesh.GetPointsAttr(), points)
            self._put_points(mesh, solid.points)
        if active is not solid.active:
            tokens = UsdGeom.Tokens
            mesh.CreateVisibilityAttr().Set(tokens.inherited if solid.active else tokens.invisible, self._time)
        self._shown[key] = (solid.points, solid.active)

    def _hold_before(self, attribute: Any, points: np.ndarray | None) -> None:
        """Repeat the old points one frame earlier: USD would blend from the last sample, however long ago it was."""
        before = self._time - 1.0
        if points is not None and attribute.GetTimeSamples()[-1] < before:
            attribute.Set(Vt.Vec3fArray.FromNumpy(_single(points)), before)

    def _define(self, path: str, material: Any, color: tuple[float, ...], opacity: float) -> Any:
        """A mesh prim with what never changes."""
        mesh = UsdGeom.Mesh.Define(self._stage, path)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        mesh.CreateDisplayColorAttr([Gf.Vec3f(*color)])
        mesh.CreateDisplayOpacityAttr([opacity])
        UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)
        return mesh

    def _put_topology(self, mesh: Any, faces: np.ndarray, when: Any) -> None:
        when = Usd.TimeCode.Default() if when is None else when
        mesh.CreateFaceVertexCountsAttr().Set(Vt.IntArray.FromNumpy(np.full(len(faces), 3, np.int32)), when)
        mesh.CreateFaceVertexIndicesAttr().Set(Vt.IntArray.FromNumpy(_ints(faces.ravel())), when)

    def _put_points(self, mesh: Any, points: np.ndarray) -> None:
        values = Vt.Vec3fArray.FromNumpy(_single(points))
        mesh.CreatePointsAttr().Set(values, self._time)
        mesh.CreateExtentAttr().Set(UsdGeom.PointBased.ComputeExtent(values), self._time)


def _material(
    stage: Any, name: str, color: tuple[float, ...], *, texture: str | None = None, opacity: float = 1.0
) -> Any:
    """A UsdPreviewSurface, coloured by the picture `texture` (read with the primvar `st`) when there is one."""
    types, path = Sdf.ValueTypeNames, f"/World/Looks/{name}"
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, f"{path}/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("roughness", types.Float).Set(0.7)
    shader.CreateInput("opacity", types.Float).Set(opacity)
    diffuse = shader.CreateInput("diffuseColor", types.Color3f)
    diffuse.Set(Gf.Vec3f(*color))
    if texture is not None:
        reader = UsdShade.Shader.Define(stage, f"{path}/st")
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", types.String).Set("st")
        picture = UsdShade.Shader.Define(stage, f"{path}/picture")
        picture.CreateIdAttr("UsdUVTexture")
        picture.CreateInput("file", types.Asset).Set(Sdf.AssetPath(texture))
        st = reader.CreateOutput("result", types.Float2)
        picture.CreateInput("st", types.Float2).ConnectToSource(st)
        diffuse.ConnectToSource(picture.CreateOutput("rgb", types.Float3))
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def _single(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float32)


def _ints(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.int32)
