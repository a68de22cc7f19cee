"""`crumple scenes` and `crumple materials`."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import inf, isfinite
from typing import Any

import typer

from crumple.materials import Material, Preset, preset_sheets, presets

COLUMNS = ("name", "µm", "g/m²", "GPa", "ν", "kN/m", "mN m", "1/m", "mN", "what")
WIDTH = 190
"""Characters that the widest row of materials has room in."""
NOTE = (
    "thickness, mass, Young's modulus, Poisson's ratio, tensile stiffness, bending stiffness of a plate, "
    "curvature at which a bend begins to stay, tearing force; along × across the grain"
)


def list_scenes() -> None:
    """Show the built-in scenes: what each is, its frames, and about how long it and its quick variant take."""
    from rich.table import Table

    from crumple.cli.consoles import make_console
    from crumple.scenes import builtin_scenes, load_scene
    from crumple.scenes.builtin import ABOUT, About
    from crumple.scenes.sizes import frame_count

    title = "built-in scenes (times are rough, for one thread)"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in ("name", "what"):
        table.add_column(column, no_wrap=column == "name")
    for column in ("frames", "time", "--quick"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, description in builtin_scenes().items():
        about = ABOUT.get(name, About(description.split(". ")[0]))
        times = duration_text(about.seconds), duration_text(about.quick_seconds)
        table.add_row(name, about.what, f"{frame_count(load_scene(name))}", *times)
    make_console().print(table)


def duration_text(seconds: float | None) -> str:
    """`26 s` or `40 min`, a dash when it is not known."""
    if seconds is None:
        return "–"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def list_materials(as_json: bool) -> None:
    """Show the presets with their values; along × across the grain where the two differ."""
    stated, made = preset_sheets(), presets()
    if as_json:
        typer.echo(json.dumps({name: _record(one, made[name]) for name, one in stated.items()}, allow_nan=False))
        return
    from rich.table import Table

    from crumple.cli.consoles import make_console

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in ("name", "what") else "right", no_wrap=True)
    for name, one in stated.items():
        table.add_row(*_row(one, made[name]))
    console = make_console()
    console.width = max(console.width, WIDTH)  # lines are long, but a name that is cut is of no use
    console.print(table)
    typer.echo(NOTE)


def _row(preset: Preset, sheet: Material) -> tuple[str, ...]:
    return (
        preset.name,
        f"{1e6 * sheet.thickness:.4g}",
        f"{1e3 * sheet.density:.4g}",
        _pair(1e-9 * preset.young[0], 1e-9 * preset.young[1]),
        f"{preset.poisson:.3g}",
        _pair(*(1e-3 * modulus * sheet.thickness for modulus in preset.young)),
        _pair(1e3 * sheet.bending[0], 1e3 * sheet.bending[2]),
        f"{sheet.yield_curvature:.3g}" if isfinite(sheet.yield_curvature) else "never",
        _pair(*(1e3 * force for force in _tear_forces(sheet))) if sheet.tears else "never",
        preset.about,
    )


def _tear_forces(sheet: Material) -> tuple[float, float]:
    """The force of one leg of a trouser or Elmendorf test along and across the grain, G_c t/2 [N]."""
    along, across = sheet.tear_energy
    return 0.5 * along * sheet.thickness, 0.5 * across * sheet.thickness


def _pair(along: float, across: float) -> str:
    """`5 × 2.5`, or one number when both are equal."""
    return f"{along:.3g}" if along == across else f"{along:.3g} × {across:.3g}"


def _record(preset: Preset, sheet: Material) -> dict[str, Any]:
    """What is stated (density per volume) and what follows, in SI units; null = never yields, does not tear."""
    never = (inf, (inf, inf))
    stated = {key: None if value in never else value for key, value in asdict(preset).items() if key != "name"}
    return stated | {
        "area_density": sheet.density,
        "tensile_stiffness": [modulus * sheet.thickness for modulus in preset.young],
        "shear_stiffness": 0.5 * float(sheet.membrane[3]),
        "tear_force": list(_tear_forces(sheet)) if sheet.tears else None,
        "membrane": sheet.membrane.tolist(),
        "bending": sheet.bending.tolist(),
    }
