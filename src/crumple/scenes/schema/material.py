"""Materials in a scene file: a preset, a file of measurements, moduli, or stiffnesses."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from crumple.materials.material import LEAST_TEAR_ENERGY
from crumple.options.quantities import Quantity
from crumple.scenes.quantities import Factor, FileName, PartName, Table, Vector, refuse

Modulus = Annotated[float, Quantity("Pa", least=1e-3, most=1e15)]
ModulusPair = Annotated[tuple[float, float], Vector(2, Quantity("Pa", least=1e-3, most=1e15), repeat=True)]
StretchPair = Annotated[tuple[float, float], Vector(2, Quantity("N/m", above=0, most=1e12), repeat=True)]
BendingPair = Annotated[tuple[float, float], Vector(2, Quantity("N m", least=0, most=1e6), repeat=True)]
TearPair = Annotated[tuple[float, float], Vector(2, Quantity("J/m²", least=LEAST_TEAR_ENERGY, most=1e12), repeat=True)]
TearForcePair = Annotated[tuple[float, float], Vector(2, Quantity("N", least=1e-9, most=1e9), repeat=True)]
MembraneConstants = Annotated[tuple[float, float, float, float], Vector(4, Quantity("N/m", least=-1e12, most=1e12))]
BendingConstants = Annotated[tuple[float, float, float], Vector(3, Quantity("N m", least=0, most=1e6))]
ScalePair = Annotated[tuple[float, float], Vector(2, Quantity("", above=0, most=10), repeat=True)]

_FORMS = ("model", "preset", "file", "young", "stretch", "membrane")
_PARTNERS = {
    "model": ("shear", "bend"),
    "preset": (),
    "file": (),
    "young": ("poisson", "shear", "bend"),
    "stretch": ("poisson", "shear", "bend"),
    "membrane": ("bending",),
}
_SOLID = ("model", "young", "stretch", "membrane")


class SheetMaterial(Table):
    """One of: `preset`; `file` (measured fabric, JSON); `young` (one number or along u and v) with `poisson`;
    `stretch` (one number or along u and v) with `bend`, `poisson` and `shear` [N/m]; `membrane` (C11, C12,
    C22, C33) with `bending` (along u, at 45°, along v); `model` = "baraff-witkin" with `stretch`, `shear` [N/m]
    and `bend`, `scale` (lengths at rest) and `area` (its weight).

    Without preset or file, `thickness` and `density` are needed. `thickness` of a preset changes mass, stiffnesses and
    yield curvature with it, unless these are given too. `grain_angle`: direction on the pattern, from u, that "along u"
    means (a paper's machine direction) [degrees]. `strain_limit`: the largest stretch, length over length at rest, that
    any face ever has. `tear_energy` of a crack along the grain and across it, or `tear_force`, the force of one leg
    in the tests of data sheets; `tensile_strength` at which the sound sheet begins to tear. Factors multiply what the
    form gives.
    """

    model: Literal["baraff-witkin"] | None = None
    preset: PartName | None = None
    file: FileName | None = None
    young: ModulusPair | None = None
    poisson: Annotated[float, Quantity("", above=-1, below=0.5)] | None = None
    shear: Annotated[float, Quantity("Pa, N/m with stretch", least=1e-9, most=1e15)] | None = None
    stretch: StretchPair | None = None
    bend: BendingPair | None = None
    membrane: MembraneConstants | None = None
    bending: BendingConstants | None = None
    scale: ScalePair | None = None
    area: Literal["linear", "squared"] | None = None
    thickness: Annotated[float, Quantity("m", least=1e-9, most=0.1)] | None = None
    density: Annotated[float, Quantity("kg/m²", least=1e-9, most=1e4)] | None = None
    damping: Annotated[float, Quantity("s", least=0, most=1e3)] | None = None
    yield_curvature: Annotated[float, Quantity("1/m", above=0, most=1e9)] | None = None
    weakening: Annotated[float, Quantity("", least=0, most=1e6)] | None = None
    yield_strain: Annotated[float, Quantity("", above=0, most=10)] | None = None
    strain_limit: Annotated[float, Quantity("", above=1, most=1e3)] | None = None
    grain_angle: Annotated[float, Quantity("degrees", least=-360, most=360)] | None = None
    tear_energy: TearPair | None = None
    tear_force: TearForcePair | None = None
    tensile_strength: Annotated[float, Quantity("Pa", above=0, most=1e15)] | None = None
    stretch_factor: Factor = 1.0
    bend_factor: Factor = 1.0
    density_factor: Factor = 1.0

    @property
    def form(self) -> str:
        """Which of the forms this table has."""
        return next(form for form in _FORMS if getattr(self, form) is not None)

    @model_validator(mode="after")
    def _check_form(self) -> SheetMaterial:
        given = [form for form in _FORMS if getattr(self, form) is not None]
        if "model" in given and "stretch" in given:  # which is one of its coefficients
            given.remove("stretch")
        if len(given) != 1:
            found = f", not {' and '.join(given)}" if given else ""
            raise refuse(f"needs exactly one of {', '.join(_FORMS)}{found}")
        form = given[0]
        for key in ("poisson", "shear", "bend", "bending"):
            if getattr(self, key) is not None and key not in _PARTNERS[form]:
                raise refuse(f"{key} does not go with {form}")
        if self.tear_energy is not None and self.tear_force is not None:
            raise refuse("needs tear_energy or tear_force, not both: G_c = 2 F / thickness")
        for key in ("scale", "area"):
            if getattr(self, key) is not None and form != "model":
                raise refuse(f"{key} goes with model only")
        needed = [*(("thickness", "density") if form in _SOLID else ())]
        needed += {"model": ["stretch", "shear", "bend"], "stretch": ["bend"], "membrane": ["bending"]}.get(form, [])
        missing = [key for key in needed if getattr(self, key) is None]
        if missing:
            raise refuse(f"{form} also needs {' and '.join(missing)}")
        for key in ("stretch", "bend") if form == "model" else ():
            pair = getattr(self, key)
            if pair is not None and pair[0] != pair[1]:
                raise refuse(f"{key} must be one number in a model")
        return self


def _named(value: Any) -> Any:
    """`material = "paper80"` is short for `material = { preset = "paper80" }`."""
    return {"preset": value} if isinstance(value, str) else value


Material = Annotated[SheetMaterial, BeforeValidator(_named)]
