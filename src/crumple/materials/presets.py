"""Materials by name: papers, boards, foils, film and fabrics with values from the literature (SI).

A preset states what the stuff is like (moduli, Poisson's ratio, density per volume) and how thick its sheet is; mass
and stiffnesses follow from these, also for another thickness. Papers and boards come isotropic (geometric means of
both directions, "paper80") and as they are made, stiffer along the machine direction, which lies along u
("paper80-md"). Literature values scatter by ±30 %. Fabrics have their warp along u.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from math import inf, sqrt
from typing import Any

from crumple.materials.material import Material
from crumple.runtime.errors import InputError


@dataclass(frozen=True)
class Preset:
    """What a sheet is made of, and how it is sold.

    `young` E [Pa] along and across the machine direction, equal when there is none; `poisson` contraction across
    under a pull along it; `density` per volume [kg/m³]; `thickness` h₀ [m].
    `bend` B along and across [N m], measured at h₀, where that is not what a uniform plate would have.
    `shear` G [Pa], where threads that cross let it be far below that of a uniform sheet.
    `yield_curvature` [1/m] at h₀; `yield_strain` in plane; `weakening`, `damping` [s] as in `Material`.
    `tear_energy` [J/m²] of a crack along and across the machine direction and `tensile_strength` [Pa], per depth and
    area of the sheet, so the same at any thickness. Those below are recalled from handbooks of paper and metal testing,
    not looked up: trust them to ±50 %.
    `about` tells what it is and where the numbers come from.
    """

    name: str
    about: str
    young: tuple[float, float]
    poisson: float
    density: float
    thickness: float
    bend: tuple[float, float] | None = None
    yield_curvature: float = inf
    yield_strain: float = inf
    weakening: float = 0.0
    damping: float = 1e-3
    tear_energy: tuple[float, float] = (inf, inf)
    tensile_strength: float = inf
    shear: float | None = None

    def sheet(self, thickness: float | None = None) -> Material:
        """The material of a sheet `thickness` h [m], by default h₀.

        Mass ρ h, membrane E h, bending E h³/(12 (1 − ν_uv ν_vu)) or B (h/h₀)³ if measured. The outer fibres of a sheet
        bent to κ are strained by κ h/2, so the yield curvature follows as κ_y h₀/h. Strains and times stay.
        """
        height = self.thickness if thickness is None else thickness
        if not (isinstance(height, int | float) and 0.0 < height < inf):
            raise InputError(f"material {self.name!r}: thickness", "must be a number > 0, in m", height)
        ratio = height / self.thickness
        bend = self.bend and (self.bend[0] * ratio**3, self.bend[1] * ratio**3)
        own: dict[str, Any] = {
            "density": self.density * height,
            "damping": self.damping,
            "yield_curvature": self.yield_curvature / ratio,
            "weakening": self.weakening,
            "yield_strain": self.yield_strain,
            "tear_energy": self.tear_energy,
            "tensile_strength": self.tensile_strength,
        }
        is_alike = self.young[0] == self.young[1] and self.shear is None
        if is_alike and bend is None:
            return Material.isotropic(self.name, young=self.young[0], poisson=self.poisson, thickness=height, **own)
        if is_alike and bend and bend[0] == bend[1]:
            stretch = self.young[0] * height
            return Material.from_stiffness(
                self.name, stretch=stretch, bend=bend[0], poisson=self.poisson, thickness=height, **own
            )
        return Material.orthotropic(
            self.name, young=self.young, poisson=self.poisson, shear=self.shear, bend=bend, thickness=height, **own
        )


def _with_grain(paper: Preset, mean_poisson: float = 0.2) -> tuple[Preset, Preset]:
    """The isotropic mean of a paper, and the paper itself under the name NAME-md."""
    young = sqrt(paper.young[0] * paper.young[1])
    bend = None if paper.bend is None else (sqrt(paper.bend[0] * paper.bend[1]),) * 2
    tear = (sqrt(paper.tear_energy[0]) * sqrt(paper.tear_energy[1]),) * 2
    mean = replace(paper, young=(young, young), bend=bend, poisson=mean_poisson, tear_energy=tear)
    return mean, replace(paper, name=f"{paper.name}-md", about=f"{paper.about}, grain along u")


def _office(
    name: str, grammage: float, thickness: float, bend: tuple[float, float], yielding: float
) -> tuple[Preset, Preset]:
    """An office paper of `grammage` [kg/m²]: E 4.5–6 GPa along, 2–3 GPa across; B as bending testers give it."""
    return _with_grain(
        Preset(
            name,
            f"office paper, {1000 * grammage:.0f} g/m²",
            young=(5.0e9, 2.5e9),
            poisson=0.3,
            density=grammage / thickness,
            thickness=thickness,
            bend=bend,
            yield_curvature=yielding,
            weakening=1.0,
            tear_energy=(4.5e3, 8.0e3),  # a crack along the fibres has it easier
            tensile_strength=30e6,
        )
    )


def _foil(
    name: str,
    about: str,
    thickness: float,
    grammage: float,
    yielding: float,
    young: float = 69e9,
    poisson: float = 0.33,
) -> Preset:
    """Aluminium foil of `grammage` [kg/m²]; yield curvatures from the creases of crumpled foil."""
    return Preset(
        name,
        about,
        young=(young, young),
        poisson=poisson,
        density=grammage / thickness,
        thickness=thickness,
        yield_curvature=yielding,
        damping=1e-4,
        tear_energy=(10e3, 10e3),  # of thin soft foil; far below that of thick plates
        tensile_strength=70e6,
    )


_CARD = Preset(
    "card",
    "card for postcards and cartons, 250 g/m²",
    # Solid bleached board of 240–260 g/m² is 0.29–0.32 mm thick; makers' sheets give a bending resistance (ISO 2493,
    # 15°) of about 150 mN along and 70 mN across, that is B = 0.084 m F = 12.5 and 5.9 mN m: the plate with these E.
    young=(5.3e9, 2.5e9),
    poisson=0.3,
    density=830.0,
    thickness=0.30e-3,
    yield_curvature=40.0,  # a surface strain of 0.6 %, as of the office papers
    weakening=1.0,
    tear_energy=(6e3, 11e3),
    tensile_strength=35e6,
)
_CARDBOARD = Preset(
    "cardboard",
    "solid grey board, the back of a pad (not corrugated)",
    # Grey board of recycled fibre has 600–650 kg/m³ and is less stiff than virgin fibre: E of paper falls about
    # linearly with its density [Baum1981], which from 5 and 2.5 GPa at 780 kg/m³ gives these.
    young=(3.3e9, 1.6e9),
    poisson=0.3,
    density=630.0,
    thickness=1.0e-3,
    yield_curvature=12.0,  # a surface strain of 0.6 %
    weakening=1.0,
    tear_energy=(4e3, 7e3),
    tensile_strength=18e6,
)
_TISSUE = Preset(
    "tissue",
    "wrapping tissue, 20 g/m²",
    # 17–22 g/m² and about 40 µm (Sci. Rep. 4, 6275, table 2); uncreped, so E falls with density as in [Baum1981].
    young=(1.8e9, 0.9e9),
    poisson=0.3,
    density=500.0,
    thickness=40e-6,
    yield_curvature=300.0,  # a surface strain of 0.6 %
    weakening=1.0,
    tear_energy=(2e3, 4e3),
    tensile_strength=12e6,
)
_CAN = Preset(
    "aluminium-can",
    "wall of a drinks can, alloy 3104-H19",
    # Walls are ironed to 0.10 mm (Hosford & Duncan, The Aluminum Beverage Can, Scientific American 271, 1994); E and ν
    # of aluminium, 2720 kg/m³ and a yield stress of 262 MPa for 3104-H19 from makers' sheets: ε_y = 0.0038.
    young=(69e9, 69e9),
    poisson=0.33,
    density=2720.0,
    thickness=0.10e-3,
    yield_curvature=76.0,  # 2 ε_y/h
    yield_strain=3.8e-3,
    damping=1e-4,
    tear_energy=(25e3, 25e3),
    tensile_strength=290e6,
)


# Cotton, wool, wool with Lycra and polyester are plain weaves whose thickness, mass, initial modulus and Poisson's
# ratio are those of [Penava2014], as others who compute with them give them (cotton: the C-IPC scenes [Li2021]). The
# moduli are slopes at the first small strains and low: weaves stiffen under load, which these do not.
_WEAVES = (
    Preset("cotton", "plain woven cotton", (0.821e6, 0.821e6), 0.243, 0.15 / 0.318e-3, 0.318e-3),
    Preset("wool", "plain woven wool", (0.170e6, 0.170e6), 0.277, 0.2348 / 0.568e-3, 0.568e-3),
    Preset("stretch-wool", "wool woven with Lycra", (0.076e6, 0.076e6), 0.071, 0.1782 / 0.328e-3, 0.328e-3),
    Preset("polyester-weave", "plain woven polyester", (0.478e6, 0.478e6), 0.381, 0.1646 / 0.252e-3, 0.252e-3),
)
# Silk, denim and felt: weights are those in which they are sold (8 momme, 12 oz/yd²). The stiffnesses are of the size
# that Kawabata's instruments give for such fabrics (extension of some % at 490 N/m, B 0.03 and 0.3–0.6 gf cm²/cm, G 0.3
# and 2.5 gf/(cm degree)), of felt what makes 1 mm of it overhang by 9 cm at 41.5° (B = ρ g (l/2)³). They are recalled
# and rounded, not looked up for one fabric: trust them to a factor of two.
_SILK = Preset(
    "silk",
    "silk habotai of 8 momme",
    young=(100e6, 100e6),
    poisson=0.1,
    density=0.0347 / 0.08e-3,
    thickness=0.08e-3,
    bend=(3.0e-6, 3.0e-6),
    shear=0.21e6,  # 17 N/m
)
_DENIM = Preset(
    "denim",
    "denim of 12 oz/yd², warp along u",
    young=(16e6, 8e6),
    poisson=0.1,
    density=0.407 / 0.75e-3,
    thickness=0.75e-3,
    bend=(60e-6, 30e-6),
    shear=0.19e6,  # 140 N/m
)
_FELT = Preset("felt", "wool felt of 1 mm", (2.0e6, 2.0e6), 0.3, 200.0, 1.0e-3)


@cache
def preset_sheets() -> dict[str, Preset]:
    """All presets by name, as they are stated."""
    listed = [
        *_office("paper70", 0.07, 90e-6, (0.30e-3, 0.13e-3), 120.0),
        *_office("paper80", 0.08, 105e-6, (0.45e-3, 0.20e-3), 110.0),
        *_office("paper90", 0.09, 115e-6, (0.65e-3, 0.30e-3), 100.0),
        *_with_grain(_TISSUE),
        *_with_grain(_CARD),
        *_with_grain(_CARDBOARD),
        _foil("kitchen-foil", "aluminium foil of the household", 16e-6, 0.043, 80.0),
        _foil("heavy-foil", "heavy duty aluminium foil", 24e-6, 0.065, 60.0),
        _foil("narain-foil", "the foil of [Narain2013], 1 mil", 25.4e-6, 0.071, 157.0, young=70e9, poisson=0.0),
        _CAN,
        # polyester film yields at a surface strain of 2 %
        Preset(
            "mylar",
            "polyester film",
            (4.5e9, 4.5e9),
            0.38,
            1390.0,
            50e-6,
            yield_curvature=800.0,
            damping=1e-4,
            tear_energy=(40e3, 40e3),  # essential work of fracture of tough film
            tensile_strength=180e6,
        ),
        *_WEAVES,
        _SILK,
        _DENIM,
        _FELT,
    ]
    return {one.name: one for one in listed}


@cache
def presets() -> dict[str, Material]:
    """All built-in materials by name, at the thickness that they are sold in."""
    return {name: one.sheet() for name, one in preset_sheets().items()}


def preset(name: str, thickness: float | None = None) -> Material:
    """The built-in material called `name`, at another `thickness` [m] if given."""
    known = preset_sheets()
    if name not in known:
        raise InputError("material", f"{_nearest(name)}there are {', '.join(known)}", name)
    return known[name].sheet(thickness)


COMMON_NAMES = {
    "paper": "paper80",
    "papier": "paper80",
    "paperboard": "card",
    "cardstock": "card",
    "board": "cardboard",
    "foil": "kitchen-foil",
    "aluminium": "kitchen-foil",
    "aluminum": "kitchen-foil",
    "can": "aluminium-can",
    "aluminum-can": "aluminium-can",
    "polyester": "mylar",
    "film": "mylar",
    "plastic": "mylar",
    "fabric": "cotton",
    "cloth": "cotton",
    "textile": "cotton",
    "linen": "cotton",
    "jeans": "denim",
    "satin": "silk",
    "chiffon": "silk",
    "tweed": "wool",
    "flannel": "wool",
    "spandex": "stretch-wool",
    "lycra": "stretch-wool",
}
"""What people call a material, and the preset that comes nearest."""


def _nearest(name: str) -> str:
    """`did you mean 'paper80'? ` when a preset is close by name or meaning, else nothing."""
    word = name.lower().replace("_", "-").replace(" ", "-")
    close = [COMMON_NAMES[word]] if word in COMMON_NAMES else get_close_matches(word, preset_sheets(), n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}? " if close else ""
