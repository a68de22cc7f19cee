"""Tearing in an ARCSim scene as tables.

ARCSim splits vertices whose separation strength exceeds `toughness` τ [Pa], and sound ones above `initiation_factor` τ.
The strength at the tip of a crack depends on the edges there, s² ℓ ≈ 2.3 E G, so with edges of the smallest size ℓ the
same crack runs at the energy G_c = τ² ℓ/(2.3 E). A uniform tension σ has s = 2σ, so σ_t = initiation_factor τ/2.
`refine_fracture` r asks for the smallest edges where the tension is r τ; here that is where it is 2 f σ_t.
"""

from __future__ import annotations

from typing import Any

from crumple.scenes.arcsim.json import Entry

STRENGTH_SQUARED = 2.3
"""s² ℓ/(E G) at the tip of a crack whose edges have the length ℓ, on equilateral and irregular meshes; ±10 %."""

_ONE_LAW = "cracks follow the energy that they set free here, of stretching and of bending alike"
_OTHERS = {
    "bend_width": _ONE_LAW,
    "fracture_bending_mult": _ONE_LAW,
    "fracture_bend_thickness": _ONE_LAW,
    "fracture_toughness": "unknown here; toughness is used",
}


def tear_keys(entry: Entry, table: dict[str, Any], finest: float | None, *, is_off: bool) -> None:
    """Tear energy [J/m²] and tensile strength [Pa] of a material `table`; `finest`: smallest edge [m], if remeshed."""
    for key, reason in _OTHERS.items():
        if is_off:
            entry.has(key)
        else:
            entry.ignore(key, reason)
    toughness, factor = entry.optional_number("toughness"), entry.number("initiation_factor", 1.0)
    if toughness is None or is_off:
        return
    for key, value in (("toughness", toughness), ("initiation_factor", factor)):
        if not value > 0.0:
            raise entry.error("must be > 0", value, key=key)
    if "young" not in table or finest is None:
        missing = "elastic_modulus" if "young" not in table else "remeshing.size"
        entry.notes.add((*entry.path, "toughness"), f"gives no tear energy without {missing}: the sheet does not tear")
        return
    table["tear_energy"] = toughness * toughness * finest / (STRENGTH_SQUARED * table["young"])
    table["tensile_strength"] = 0.5 * factor * toughness
    energy, strength = table["tear_energy"], table["tensile_strength"]
    words = f"is G_c = {energy:.3g} J/m² with edges of {finest:g} m, and a strength of {strength:.3g} Pa"
    entry.notes.add((*entry.path, "toughness"), f"{words}; see docs/tearing.md")


def tearing_table(sheets: list[dict[str, Any]], refine: float | None, factor: float) -> dict[str, Any]:
    """The table [tearing], empty when no sheet tears: `refine` as the file's refine_fracture says."""
    materials = [one for sheet in sheets for one in sheet.get("materials", [sheet.get("material")])]
    if not any(material and "tear_energy" in material for material in materials):
        return {}
    return {"tearing": {} if refine is None else {"refine_fracture": refine / factor}}


def refinement(cloths: list[Entry]) -> tuple[float | None, float]:
    """The `refine_fracture` of the first cloth that has one, and the initiation factor of its first material."""
    for cloth in cloths:
        remeshing = cloth.entry("remeshing") if cloth.has("remeshing") else None
        if remeshing is not None and remeshing.has("refine_fracture"):
            value = remeshing.number("refine_fracture")
            if not value > 0.0:
                raise remeshing.error("must be > 0", value, key="refine_fracture")
            is_list = not isinstance(cloth.take("materials"), dict)
            materials = cloth.entries("materials") if is_list else [cloth.entry("materials")]
            return value, materials[0].number("initiation_factor", 1.0) if materials else 1.0
    return None, 1.0
