"""crumpling-laws: how creases, ridges and size follow from crumpling, on recordings.

Creases (`recrumple`): a sheet is crumpled and pulled open again and again. The length of the creases that are seen on
the opened sheet grows as ℓ/L0 = c1 (1 − Δ) ln(1 + c2 n/Δ) with the number n of crumples [Gottesman2018]. Here the
length is the mileage, which weighs creases by their angles and so does not depend on the mesh. The form is checked; c1
and c2 are those of the sheet: 52 and 0.1 for thin mylar, whose creases are far sharper than a coarse mesh.

Size (`sizes`): sheets of the same paper and different widths, crumpled up to the same pressure, make balls whose size
grows as R ∝ M^0.4: larger balls are looser, the mass fills a dimension of 2.5 only [Gomes1987]. Balls of the same
density would give 1/3, those that are magnified sheets 1/2. The pressure is that of the contact on the sphere; the
sizes come from P = a_k R^−α through all frames in which the sphere is narrower than sheet k.

Ridges (`foil-ball`, when it is there): their lengths are log-normal at low confinement, as when pieces are broken again
and again, and gamma at high confinement [Sultan2006]. Both laws are fitted; the one that is expected must be within a
Kolmogorov–Smirnov distance of 0.05 and nearer than the other.
"""

from __future__ import annotations

from functools import partial
from math import nan
from pathlib import Path

import numpy as np

from crumple.analysis.analyze import Analysis, analyze_recording, recording_model
from crumple.analysis.figures import draw_ridge_lengths
from crumple.analysis.fits import fit_power
from crumple.analysis.pressure import equal_pressure, pressure_curves
from crumple.analysis.reference import MASS_SIZE, MILEAGE_C1, MILEAGE_C2
from crumple.analysis.repeated import container_radii, mileage_curve
from crumple.recording.recording import Recording
from crumple.runtime.typing import Floats
from crumple.studies.validation.result import CaseResult, Check, Drawing, Figure, curve, range_check

FEWEST_CRUMPLES = 6
R_SQUARED = 0.97
GROWTH = (1.0, 1.8)
"""Mileage after all crumples over that after half of them; R² alone cannot tell a slow logarithm from a straight line.
The law of mylar gives 1.6 for six."""
CRUMPLED = 0.5
"""Radius of the container over the width of the sheet below which a sheet counts as crumpled."""
PRESSURE = 300.0
"""At which the sizes are shown [Pa]; their exponent does not depend on it."""
MASS_SIZE_TOLERANCE = 0.05
"""A dimension between 2.2 and 2.9; measured ones scatter from 2.3 to 2.6."""
LOW = 0.5
"""Container over flat sheet at low confinement: hundreds of ridges, few layers. High is the most confined frame."""
DISTANCE = 0.05
"""Of Kolmogorov and Smirnov between ridge lengths and a law that describes them."""

Part = tuple[list[Check], tuple[Drawing, ...]]


def validate_crumpling_laws(recordings: Path) -> CaseResult:
    """R² of the mileage above 0.97, exponent of mass and size within 0.05 of 0.4, laws of the ridge lengths."""
    parts = [validate_mileage(Recording(recordings / "recrumple")), validate_sizes(Recording(recordings / "sizes"))]
    if (recordings / "foil-ball").is_dir():
        parts.append(validate_ridge_lengths(Recording(recordings / "foil-ball")))
    checks = tuple(check for found, _ in parts for check in found)
    return CaseResult("crumpling-laws", checks, figure=tuple(drawing for _, drawn in parts for drawing in drawn))


def validate_mileage(recording: Recording) -> Part:
    """The logarithmic growth of the creases."""
    found = mileage_curve(recording)
    count, mileage = found.count, found.mileage
    checks = [
        Check(f"crumples, at least {FEWEST_CRUMPLES}", max(len(count), FEWEST_CRUMPLES), len(count), 0.0),
        range_check("R² of the mileage ℓ/L0(n)", (R_SQUARED, 1.0), nan if found.law is None else found.law.r_squared),
    ]
    if found.law is None:
        return checks, ()
    half = len(count) // 2
    label = f"ℓ({len(count)})/ℓ({half}), 2 if it grew evenly"
    checks.append(range_check(label, GROWTH, mileage[-1] / mileage[half - 1]))
    dense, delta = np.linspace(0.0, count[-1], 60), float(found.delta.mean())
    known = MILEAGE_C1 * (1.0 - delta) * np.log1p(MILEAGE_C2 * dense / delta)
    fitted = found.law(dense, np.full_like(dense, delta))
    curves = (
        curve("opened sheet", list(zip(count, mileage, strict=True)), markers=True),
        curve(f"c1 = {found.law.c1:.3g}, c2 = {found.law.c2:.2g}", list(zip(dense, fitted, strict=True))),
        curve(f"mylar, Δ = {delta:.2f}: {MILEAGE_C1:g}, {MILEAGE_C2:g}", list(zip(dense, known, strict=True))),
    )
    return checks, (Figure("crumples n", "crease mileage ℓ / L0", curves),)


def validate_sizes(recording: Recording) -> Part:
    """The exponent of size and mass at the same pressure; sheet k is in obstacle k."""
    width, mass = sheet_sizes(recording)
    curves = pressure_curves(recording)
    found = None
    if len(curves) == len(mass):
        found = equal_pressure([c.below(CRUMPLED * w) for c, w in zip(curves, width, strict=True)], PRESSURE)
    law = None if found is None else fit_power(mass, found.radius)
    exponent = nan if law is None else law.exponent
    checks = [Check("exponent of R(M) at the same pressure", MASS_SIZE, exponent, MASS_SIZE_TOLERANCE)]
    if found is None or law is None:
        return checks, ()
    middle, size = np.exp(np.log(mass).mean()), np.exp(np.log(found.radius).mean())
    drawn = [curve("balls", list(zip(1e3 * mass, 1e3 * found.radius, strict=True)), markers=True)]
    for label, power in {"fitted": exponent, "known": MASS_SIZE, "magnified": 1 / 2, "same density": 1 / 3}.items():
        line = size * (mass / middle) ** power
        drawn.append(curve(f"{label}, M^{power:.2f}", list(zip(1e3 * mass, 1e3 * line, strict=True))))
    return checks, (Figure("mass [g]", f"radius at {PRESSURE:g} Pa [mm]", tuple(drawn), logarithmic=True),)


def sheet_sizes(recording: Recording) -> tuple[Floats, Floats]:
    """√area [m] and mass [kg] of each sheet, (sheet_count,)."""
    mesh, materials = recording.load(recording.frames[0]).mesh, recording_model(recording).materials
    density = np.array([material.density for material in materials])[mesh.face_material]
    area, mass = (
        np.bincount(mesh.face_sheet, np.abs(mesh.face_area) * factor).astype(np.float64) for factor in (1.0, density)
    )
    return np.sqrt(area), mass


def validate_ridge_lengths(recording: Recording) -> Part:
    """Log-normal lengths at low confinement, gamma at high."""
    frames, radii = container_radii(recording)
    flat = analyze_recording(recording, frames[0]).shape.ball.radius
    near = np.flatnonzero(radii <= LOW * flat)
    low = analyze_recording(recording, frames[int(near[0])] if len(near) else frames[-1])
    high = analyze_recording(recording)
    checks = ridge_checks("low confinement", low, "lognormal", "gamma")
    checks += ridge_checks("high confinement", high, "gamma", "lognormal")
    return checks, (partial(draw_ridge_lengths, low), partial(draw_ridge_lengths, high))


def ridge_checks(label: str, analysis: Analysis, law: str, other: str) -> list[Check]:
    """That the ridge lengths follow `law`, and better than the `other`."""
    distance = {fit.law: fit.distance for fit in analysis.ridge_fits}
    count = len(analysis.ridges.all_lengths)
    own, others = distance.get(law, nan), distance.get(other, nan)
    return [
        Check(f"{label}, {count} ridges: distance from {law}", 0.0, own, DISTANCE),
        range_check(f"{label}: distance from {law} over that from {other}", (0.0, 1.0), own / others),
    ]
