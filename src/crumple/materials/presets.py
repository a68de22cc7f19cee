"""Materials by name: office papers, foils, film and cotton with values from the literature (SI).

Papers come isotropic (geometric means of both directions, "paper80") and as they are made, stiffer along the
machine direction, which lies along u ("paper80-md"). Literature values scatter by ±30 %.
"""

from __future__ import annotations

from functools import cache
from math import sqrt

from crumple.errors import InputError
from crumple.materials.material import Material


def _papers(
    name: str,
    thickness: float,
    density: float,
    bend: tuple[float, float],
    yield_curvature: float,
    young: tuple[float, float] = (5.0e9, 2.5e9),
) -> tuple[Material, Material]:
    """The isotropic mean and the directed variant of a copy paper; `bend` = B along, across the machine [N m]."""
    plastic = {"yield_curvature": yield_curvature, "weakening": 1.0, "damping": 1e-3}
    mean = Material.from_stiffness(
        name,
        stretch=sqrt(young[0] * young[1]) * thickness,
        bend=sqrt(bend[0] * bend[1]),
        poisson=0.2,
        thickness=thickness,
        density=density,
        **plastic,
    )
    directed = Material.orthotropic(
        f"{name}-md",
        young=young,
        poisson=0.3,
        bend=bend,
        thickness=thickness,
        density=density,
        **plastic,
    )
    return mean, directed


def _foil(
    name: str, young: float, thickness: float, density: float, yield_curvature: float, poisson: float = 0.33
) -> Material:
    """Aluminium foil with B = E h³/12, as the literature quotes it."""
    return Material.from_stiffness(
        name,
        stretch=young * thickness,
        bend=young * thickness**3 / 12.0,
        poisson=poisson,
        thickness=thickness,
        density=density,
        yield_curvature=yield_curvature,
        damping=1e-4,
    )


def _mylar(name: str = "mylar", thickness: float = 50e-6) -> Material:
    """Polyester film, which yields at a surface strain of 2 %."""
    return Material.isotropic(
        name,
        young=4.5e9,
        poisson=0.38,
        thickness=thickness,
        density=1390.0 * thickness,
        yield_curvature=2.0 * 0.02 / thickness,
        damping=1e-4,
    )


def _cotton(name: str = "cotton") -> Material:
    """Plain woven cotton; E, ν, thickness and 472.6 kg/m³ as in the C-IPC scenes [Li2021]."""
    return Material.isotropic(name, young=0.821e6, poisson=0.243, thickness=0.318e-3, density=0.15, damping=1e-3)


@cache
def presets() -> dict[str, Material]:
    """All built-in materials by name."""
    materials = [
        *_papers("paper70", 90e-6, 0.07, (0.30e-3, 0.13e-3), 120.0),
        *_papers("paper80", 105e-6, 0.08, (0.45e-3, 0.20e-3), 110.0),
        *_papers("paper90", 115e-6, 0.09, (0.65e-3, 0.30e-3), 100.0),
        _foil("kitchen-foil", 69e9, 16e-6, 0.043, 80.0),
        _foil("heavy-foil", 69e9, 24e-6, 0.065, 60.0),
        _foil("narain-foil", 70e9, 25.4e-6, 0.071, 157.0, poisson=0.0),
        _mylar(),
        _cotton(),
    ]
    return {material.name: material for material in materials}


def preset(name: str) -> Material:
    """The built-in material called `name`."""
    known = presets()
    if name not in known:
        raise InputError("material", f"must be one of {', '.join(known)}", name)
    return known[name]
