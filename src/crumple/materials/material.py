"""What a sheet is made of, in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, pi, radians, sqrt
from typing import Any

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

CURVATURE_KNOTS = np.array([0.0, 5.0, 10.0, 15.0, 20.0])
"""Curvatures of the columns of a measured bending table [1/m]."""

STRAIN_KNOT = 1.0 / 6.0
"""Strain of the rows 1–5 of a measured membrane table."""

DIRECTION_KNOTS = np.radians([0.0, 22.5, 45.0, 67.5, 90.0])
"""Directions of largest stretch of the rows 1–5 of a measured membrane table, from u [rad]."""

LEAST_TEAR_ENERGY = 1e-3
"""Of a material that tears [J/m²]: surfaces of liquids take fifty times as much, and with much less no crack ends."""

STVK, BARAFF_WITKIN = "stvk", "baraff-witkin"
"""Models of the membrane."""


@dataclass(frozen=True, eq=False)
class Material:
    """An elastic, possibly plastic sheet; directions refer to the pattern axes u (warp) and v (weft).

    `thickness` [m];  `density` per area [kg/m²];
    `membrane` (4,) C11, C12, C22, C33 [N/m] as in `energies.membrane_stvk` (S01 = C33 E01), or a measured
    table (6, 4) with row 0 at zero strain and rows 1–5 at strain 1/6 with the largest stretch at
    0, 22.5, 45, 67.5, 90° from u;
    `bending` (3,) stiffness B [N m] when curved along u, along 45° and along v, or a measured table (3, 5) with
    columns at the curvatures 0, 5, 10, 15, 20 1/m;
    `damping` stiffness-proportional, the time β in β K v [s];
    `yield_curvature` [1/m], inf = never yields;  `weakening` γ: B falls to B/(1 + γ damage);
    `yield_strain` in plane, a norm of the Green strain, inf = never yields;
    `strain_limit` the largest stretch (length over length at rest) that it allows, > 1, inf = none;
    `grain_angle` [rad], counter-clockwise from u: the direction on the pattern that the first values of `membrane`
    and `bending` belong to (a paper's machine direction), 0 = u itself;
    `model` of the membrane at large strains: "stvk", or "baraff-witkin" with hinges that bend, as in
    `energies.membrane_baraff_witkin`; then also `rest_scale`, lengths over those of the pattern at rest, along u and v,
    and `area_power`, the power of the area that weighs each face and, alike, each hinge: 1, or 2 as in the text;
    `tear_energy` G_c [J/m²] that a crack of unit length and depth takes when it runs along the grain and across it,
    inf = does not tear;  `tensile_strength` [Pa] at which a sound sheet begins to tear, inf = only from a cut.
    """

    name: str
    thickness: float
    density: float
    membrane: Floats
    bending: Floats
    damping: float = 0.0
    yield_curvature: float = float("inf")
    weakening: float = 0.0
    yield_strain: float = float("inf")
    strain_limit: float = float("inf")
    grain_angle: float = 0.0
    model: str = STVK
    rest_scale: tuple[float, float] = (1.0, 1.0)
    area_power: int = 1
    tear_energy: tuple[float, float] = (float("inf"), float("inf"))
    tensile_strength: float = float("inf")

    def __post_init__(self) -> None:
        _require(self.name, "thickness", self.thickness, "in m")
        _require(self.name, "density", self.density, "in kg/m²")
        _require(self.name, "damping", self.damping, "in s", positive=False)
        _require(self.name, "weakening", self.weakening, "", positive=False)
        if self.yield_curvature != float("inf"):
            _require(self.name, "yield_curvature", self.yield_curvature, "in 1/m, or inf")
        if self.yield_strain != float("inf"):
            _require(self.name, "yield_strain", self.yield_strain, "or inf")
        if not self.strain_limit > 1.0:
            raise InputError(_place(self.name, "strain_limit"), "must be > 1: a stretch, or inf", self.strain_limit)
        if not isinstance(self.grain_angle, (int, float)) or not abs(self.grain_angle) <= 2.0 * pi:
            raise InputError(_place(self.name, "grain_angle"), "must lie within ±2π, in rad", self.grain_angle)
        for along, energy in zip(("along the grain", "across it"), self.tear_energy, strict=True):
            if energy != float("inf"):
                _require(self.name, "tear_energy", energy, f"{along} in J/m², or inf")
                if energy < LEAST_TEAR_ENERGY:
                    remedy = f"{along} must be at least {LEAST_TEAR_ENERGY:g} J/m², or inf"
                    raise InputError(_place(self.name, "tear_energy"), remedy, energy)
        if self.tensile_strength != float("inf"):
            _require(self.name, "tensile_strength", self.tensile_strength, "in Pa, or inf")
        if self.tears and self.model != STVK:
            raise InputError(_place(self.name, "tear_energy"), f"sheets of the model {self.model!r} do not tear")
        object.__setattr__(self, "membrane", _table(self, "membrane", self.membrane, ((4,), (6, 4))))
        object.__setattr__(self, "bending", _table(self, "bending", self.bending, ((3,), (3, 5))))
        if not self.membrane_is_measured:
            _require_definite(self)
        if self.model != STVK:
            _require_plain(self)
        if self.bending.min() < 0.0 and not self.bending_is_measured:
            raise InputError(_place(self.name, "bending"), "must be >= 0, in N m", self.bending.tolist())

    @property
    def membrane_is_measured(self) -> bool:
        """Whether `membrane` is a table over strain and direction."""
        return self.membrane.ndim == 2

    @property
    def bending_is_measured(self) -> bool:
        """Whether `bending` is a table over curvature."""
        return self.bending.ndim == 2

    @property
    def is_baraff_witkin(self) -> bool:
        """Whether stretch, shear and bending are those of [Baraff1998]."""
        return self.model == BARAFF_WITKIN

    @property
    def tears(self) -> bool:
        """Whether a crack can run in it."""
        return min(self.tear_energy) < float("inf")

    @property
    def stretch_stiffness(self) -> float:
        """Typical membrane stiffness Y [N/m]: the mean of C11 and C22 (of all rows of a table)."""
        return float(np.mean(self.membrane[..., [0, 2]]))

    @property
    def bend_stiffness(self) -> float:
        """Typical bending stiffness B [N m]: the mean over the directions (and curvatures of a table)."""
        return float(np.mean(self.bending))

    @classmethod
    def isotropic(
        cls, name: str, *, young: float, poisson: float, thickness: float, density: float, **others: Any
    ) -> Material:
        """A sheet of uniform thickness h: Y = E h, B = E h³/(12 (1−ν²)).

        `young` E [Pa], `poisson` ν, `thickness` h [m], `density` per area [kg/m²]; `others` as in `Material`.
        """
        _require(name, "young", young, "in Pa")
        _require(name, "thickness", thickness, "in m")
        _require_poisson(name, poisson)
        bending = young * thickness**3 / (12.0 * (1.0 - poisson**2))
        return cls.from_stiffness(
            name,
            stretch=young * thickness,
            poisson=poisson,
            bend=bending,
            thickness=thickness,
            density=density,
            **others,
        )

    @classmethod
    def from_stiffness(
        cls,
        name: str,
        *,
        stretch: float,
        bend: float,
        thickness: float,
        density: float,
        poisson: float = 0.0,
        **others: Any,
    ) -> Material:
        """An isotropic sheet with Y = `stretch` [N/m] (force per width at unit strain) and B = `bend` [N m]."""
        _require(name, "stretch", stretch, "in N/m")
        _require_poisson(name, poisson)
        membrane = isotropic_membrane(stretch, poisson)
        return cls(name, thickness, density, membrane, np.full(3, float(bend)), **others)

    @classmethod
    def orthotropic(
        cls,
        name: str,
        *,
        young: tuple[float, float],
        poisson: float,
        thickness: float,
        density: float,
        shear: float | None = None,
        bend: tuple[float, float] | None = None,
        **others: Any,
    ) -> Material:
        """A sheet with the moduli `young` = (E_u, E_v) [Pa] along u and v.

        `poisson` is ν_uv, contraction along v under a pull along u (ν_vu = ν_uv E_v/E_u); `shear` G [Pa],
        by default √(E_u E_v)/(2 (1 + √(ν_uv ν_vu))), a common estimate for paper [Baum1981];
        `bend` = (B_u, B_v) [N m], by default E h³/(12 (1 − ν_uv ν_vu)). B in between follows the plate law.
        """
        for label, modulus in zip(("young[0]", "young[1]"), young, strict=True):
            _require(name, label, modulus, "in Pa")
        _require(name, "thickness", thickness, "in m")
        if not isinstance(poisson, (int, float)) or isinstance(poisson, bool):
            raise InputError(_place(name, "poisson"), "must be a number", poisson)
        across = poisson * young[1] / young[0]
        if not isfinite(poisson) or poisson * across >= 1.0:
            remedy = "ν_uv ν_vu = poisson² E_v/E_u must be below 1: some strain would cost no energy"
            raise InputError(_place(name, "poisson"), remedy, poisson)
        share = 1.0 - poisson * across
        mean = sqrt(poisson * across)
        if shear is None:
            shear = sqrt(young[0] * young[1]) / (2.0 * (1.0 + mean))
        _require(name, "shear", shear, "in Pa")
        plane = thickness / share
        membrane = np.array([young[0] * plane, across * young[0] * plane, young[1] * plane, 2.0 * shear * thickness])
        cube = thickness**3 / 12.0
        along_u, along_v = (modulus * cube / share for modulus in young) if bend is None else bend
        # the plate's coupling D12 + 2 D66, scaled with the given stiffnesses when these are not the plate's own
        coupling = (across * young[0] / share + 2.0 * shear) * cube
        if bend is not None:
            ratio = (across * young[0] + 2.0 * shear * share) / sqrt(young[0]) / sqrt(young[1])
            coupling = ratio * sqrt(along_u) * sqrt(along_v)
        diagonal = 0.25 * (along_u + along_v + 2.0 * coupling)
        return cls(name, thickness, density, membrane, np.array([along_u, diagonal, along_v]), **others)


def isotropic_membrane(stretch: float, poisson: float) -> Floats:
    """C11, C12, C22, C33 [N/m] of an isotropic sheet with Y = E h = `stretch` [N/m]."""
    plane = stretch / (1.0 - poisson**2)
    return np.array([plane, poisson * plane, plane, stretch / (1.0 + poisson)])


def bending_along(bending: Floats, angle: Floats) -> Floats:
    """Bending stiffness [N m] when curved along the direction `angle` from u [rad], (n,) or (n, 5).

    Constants (3,) follow the plate law B_u cos⁴φ + B_v sin⁴φ + 2 B_uv cos²φ sin²φ with B_uv fixed by the
    value at 45°; tables (3, 5) are interpolated linearly in the angle, mirrored beyond 90°, negatives as 0.
    """
    if bending.ndim == 1:
        c, s = np.cos(angle) ** 2, np.sin(angle) ** 2
        coupling = 0.5 * (4.0 * bending[1] - bending[0] - bending[2])
        return bending[0] * c * c + bending[2] * s * s + 2.0 * coupling * c * s
    part = mirror_quadrant(angle) / radians(45.0)
    row = np.clip(part.astype(np.intp), 0, 1)
    part = (part - row)[:, None]
    return np.maximum((1.0 - part) * bending[row] + part * bending[row + 1], 0.0)


def mirror_quadrant(angle: Floats) -> Floats:
    """Directions as angles in [0, π/2]: a fabric looks the same mirrored in u or v."""
    folded = np.mod(angle, pi)
    return np.minimum(folded, pi - folded)


def _table(material: Material, key: str, values: Any, shapes: tuple[tuple[int, ...], ...]) -> Floats:
    """`values` as a read-only array of one of the `shapes`."""
    try:
        table = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(_place(material.name, key), "must be numbers", values) from None
    if table.shape not in shapes:
        wanted = " or ".join("×".join(map(str, shape)) for shape in shapes)
        raise InputError(_place(material.name, key), f"must have {wanted} numbers", values)
    if not np.isfinite(table).all():
        raise InputError(_place(material.name, key), "must be finite", table.tolist())
    table.setflags(write=False)
    return table


def _require_definite(material: Material) -> None:
    """The membrane energy must not be negative for any strain."""
    c11, c12, c22, c33 = material.membrane
    if min(c11, c22, c33) <= 0.0 or c12 * c12 > c11 * c22:
        remedy = "C11, C22, C33 must be > 0 and C12² <= C11 C22, in N/m"
        raise InputError(_place(material.name, "membrane"), remedy, material.membrane.tolist())


def _require_plain(material: Material) -> None:
    """Of the model of [Baraff1998] only what it has: two coefficients in plane, no tables, no yielding there."""
    name = material.name
    if material.model != BARAFF_WITKIN:
        raise InputError(_place(name, "model"), f"must be {STVK!r} or {BARAFF_WITKIN!r}", material.model)
    if material.membrane_is_measured or material.bending_is_measured:
        raise InputError(_place(name, "model"), "has no tables of measured stiffnesses", material.model)
    if material.membrane[0] != material.membrane[2] or material.membrane[1] != 0.0:
        raise InputError(_place(name, "membrane"), "must be C, 0, C, C33 for this model", material.membrane.tolist())
    if isfinite(material.yield_strain):
        raise InputError(_place(name, "yield_strain"), "this model does not yield in plane", material.yield_strain)
    if len(material.rest_scale) != 2 or not all(isfinite(b) and b > 0.0 for b in material.rest_scale):
        raise InputError(_place(name, "rest_scale"), "must be two numbers > 0", material.rest_scale)
    if material.area_power not in (1, 2):
        raise InputError(_place(name, "area_power"), "must be 1 or 2", material.area_power)


def _require(name: str, key: str, value: float, unit: str, *, positive: bool = True) -> None:
    """`value` must be a finite number, above zero or at least zero."""
    number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not number or not isfinite(value) or value < 0.0 or (positive and value == 0.0):
        bound = "> 0" if positive else ">= 0"
        raise InputError(_place(name, key), f"must be a number {bound}{', ' if unit else ''}{unit}", value)


def _require_poisson(name: str, value: float) -> None:
    """Poisson's ratio of an isotropic solid."""
    if not isinstance(value, (int, float)) or not -1.0 < value < 0.5:
        raise InputError(_place(name, "poisson"), "must lie between -1 and 0.5", value)


def _place(name: str, key: str) -> str:
    """Where a bad value stands, for the error message."""
    return f"material {name!r}: {key}"
