"""Meshes of OpenUSD files in time (needs the package usd-core)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Tf, Usd, UsdGeom, UsdSkel

from crumple.mesh.io.animated import Polygons, z_up
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats


def find_meshes(path: Path) -> dict[str, Callable[[str | None], Polygons]]:
    """All meshes of a file by their paths, each as a function that reads it."""
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException:
        raise InputError(path.name, "is no USD file, or damaged") from None
    prims = Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies())
    meshes = [UsdGeom.Mesh(prim) for prim in prims if prim.IsA(UsdGeom.Mesh)]
    return {str(mesh.GetPath()): partial(_read, path.name, stage, mesh) for mesh in meshes}


def _read(place: str, stage: Any, mesh: Any, up: str | None) -> Polygons:
    prim = mesh.GetPrim()
    if prim.HasAPI(UsdSkel.BindingAPI) and UsdSkel.BindingAPI(prim).GetInheritedSkeleton():
        raise InputError(place, "moves by a skeleton; bake its skin to points when you export it", str(mesh.GetPath()))
    counts, corners = mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()
    if max(counts.GetNumTimeSamples(), corners.GetNumTimeSamples()) > 1:
        remedy = "has other faces in the course of time; an obstacle must keep them"
        raise InputError(place, remedy, str(prim.GetPath()))
    first = Usd.TimeCode.EarliestTime()
    try:
        polygons = np.array(counts.Get(first) or [], np.int32), np.array(corners.Get(first) or [], np.int32)
    except TypeError:
        raise InputError(place, "has faces that are no numbers", str(prim.GetPath())) from None
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        polygons = _turned(*polygons)
    rate = stage.GetTimeCodesPerSecond()
    scale = UsdGeom.GetStageMetersPerUnit(stage)
    is_y_up = (up or str(UsdGeom.GetStageUpAxis(stage)).lower()) == "y"
    codes = {code / rate: Usd.TimeCode(code) for code in _codes(mesh)} or {0.0: first}
    return Polygons(*polygons, partial(_points, mesh, codes, scale, is_y_up), list(codes))


def _codes(mesh: Any) -> list[float]:
    """The time codes at which points or one of the transforms above them have samples."""
    found = set(mesh.GetPointsAttr().GetTimeSamples())
    prim = mesh.GetPrim()
    while prim:
        if prim.IsA(UsdGeom.Xformable):
            found |= set(UsdGeom.Xformable(prim).GetTimeSamples())
        prim = prim.GetParent()
    return sorted(found)


def _points(mesh: Any, codes: dict[float, Any], scale: float, is_y_up: bool, time: float) -> Floats:
    """World positions (n, 3) [m] at a time [s] that has a sample."""
    code = codes[time]
    local = np.array(mesh.GetPointsAttr().Get(code) or [], np.float64).reshape(-1, 3)
    matrix = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(mesh.GetPrim()))
    world = scale * (local @ matrix[:3, :3] + matrix[3, :3])
    return z_up(world) if is_y_up else np.ascontiguousarray(world)


def _turned(counts: Any, corners: Any) -> tuple[Any, Any]:
    """Polygons in the other sense of turning."""
    first = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(int)
    turned = [corners[k : k + n][::-1] for k, n in zip(first, counts, strict=True)]
    return counts, np.concatenate(turned) if turned else corners
