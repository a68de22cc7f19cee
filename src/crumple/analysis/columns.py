"""What every column of every table is, with its unit: the one place that names, files and pages take it from.

A new number of `Analysis.summary`, a new metric of sweeps, a new CSV table or a new entry of the log is a line here;
the tests find columns that are not.
"""

from __future__ import annotations

from typing import NamedTuple

from crumple.state.ledger import COLUMNS as LEDGER_COLUMNS


class Column(NamedTuple):
    """The `unit` of a column, "" for plain numbers and texts, and what it holds (`meaning`)."""

    unit: str
    meaning: str


QUANTITIES: dict[str, Column] = {
    "frame": Column("", "number of the frame"),
    "time": Column("s", "simulated time"),
    "faces": Column("", "triangles of all sheets"),
    "area": Column("m²", "area of all sheets in the pattern"),
    "area_ratio": Column("", "area in the world over area in the pattern"),
    "mass": Column("kg", "mass of all sheets"),
    "thickness": Column("m", "mean thickness: volume of the material over its area"),
    "radius": Column("m", "radius of the smallest ball around all nodes"),
    "radius_of_gyration": Column("m", "square root of the mean squared distance from the centre of mass, by mass"),
    "volume_fraction": Column("", "volume of the material, area × thickness, over that of the smallest ball"),
    "height_min": Column("m", "least z of the nodes"),
    "height_max": Column("m", "largest z of the nodes"),
    "pressure": Column("Pa", "mean over closed obstacles of −dE/dV, E the contact energy, V their volume"),
    "orientation_mean": Column("", "mean of |n · r̂| over the area, n the normal, r̂ away from the centre of mass"),
    "first_radius_peak": Column("t", "where the density of the smaller radius of curvature R1 is largest"),
    "first_radius_median": Column("t", "R1 that half of the area falls below"),
    "second_radius_peak": Column("t", "where the density of the larger radius of curvature R2 is largest"),
    "section_length": Column("m", "length of all cuts of the sheets with the plane of the cross-section"),
    "ridge_curvature": Column("1/m", "|tr S| from which a face belongs to a ridge"),
    "ridges": Column("", "number of ridges, open ones included"),
    "ridge_length_total": Column("m", "length of all ridges in the pattern"),
    "ridge_length_mean": Column("m", "mean length of a ridge in the pattern"),
    "ridge_law": Column("", "the law that fits the lengths of ridges best"),
    "vertices": Column("", "points where three or more ridges meet, or one ends at the edge of a sheet"),
    "facets": Column("", "number of facets between ridges"),
    "facet_area_mean": Column("m²", "mean area of a facet in the pattern"),
    "facet_law": Column("", "the law that fits the areas of facets best"),
    "mileage": Column("m", "Σ A ‖S_p‖ over 1 rad: length of creases bent for good by 1 rad that turn as much"),
    "worked_mileage": Column("m", "Σ A κ_y δ over 1 rad: the same of all bending so far, back and forth"),
    "crease_hinge_length": Column("m", "length of the edges of the mesh that stay bent by more than 0.2 rad"),
    "crease_mean_angle": Column("rad", "mean angle at rest of these edges, weighted by their length"),
    "crease_area_share": Column("", "area of the faces that have any plastic curvature, over the whole area"),
    "crease_lines": Column("", "number of lines of labelled edges"),
    "creases_within_1": Column("", "driven lines whose mean angle is within 1° of what it is driven to"),
    "creases_within_5": Column("", "driven lines that are off by more than 1° and at most 5°"),
    "creases_beyond_5": Column("", "driven lines that are off by more than 5°"),
    "creases_flat": Column("", "driven lines off by more than 1° that are as flat as the sheet is thin"),
    "creases_short": Column("", "driven lines off by more than 5° that touching layers or stiff facets stop"),
    "spring_back_largest": Column("°", "largest |spring-back| of a crease line: its angle beyond that at rest"),
    "cracks": Column("", "number of cracks"),
    "crack_tips": Column("", "ends of cracks that can still run"),
    "crack_length": Column("m", "length of all cracks in the pattern"),
    "crack_straightness": Column("", "distance of the ends of the longest crack over its length"),
    "crack_roughness": Column("rad", "root mean square of the turn between pieces of cracks of one spacing"),
    "roughness_spacing": Column("m", "length of these pieces"),
    "fracture_work": Column("J", "work that cracking has taken"),
    "fracture_energy": Column("J/m²", "that work per area of the new crack, length × thickness"),
    "work": Column("J", "work of all handles and obstacles since the first frame"),
    "stored_energy": Column("J", "elastic, kinetic and potential energy gained since the first frame"),
    "yielding_energy": Column("J", "work that yielding has taken"),
    "dissipated_energy": Column("J", "the rest of the work: damping, friction, air, errors of steps and remeshing"),
    "peak_force": Column("N", "largest force of a handle or obstacle that moves"),
    "tear_force": Column("N", "trouser and Elmendorf tests: work over twice the length of cracks"),
    "work_of_fracture": Column("J/m²", "work per area of the new crack"),
    "ligament_strength": Column("Pa", "notched strip: peak force over the area that tore; of one sheet that is in two"),
    "essential_work": Column("J/m²", "intercept of the work per torn area over the ligament, of three or more sheets"),
    "plastic_work_slope": Column("J/m³", "slope of that line: what yields beside the ligament"),
    "steps": Column("", "accepted time steps of the run"),
    "newton_iterations": Column("", "iterations of Newton's method of the run"),
    "contacts_max": Column("", "most pairs in contact at once"),
    "retries": Column("", "steps that were tried again, shorter"),
    "seconds_per_frame": Column("s", "mean wall time of a frame"),
    **{f"ledger_{name}": Column("J", meaning) for name, meaning in LEDGER_COLUMNS.items()},
}
"""Numbers of a frame or of a run: of summary.json, comparison.csv and the metrics of sweeps."""

FAMILIES: dict[str, Column] = {
    "energy_": Column("J", "energy of the term of this name, of the motion (kinetic) or of the contact barrier"),
    "loss_": Column("J", "dissipated during the step by this cause"),
    "phase_": Column("s", "wall time of the frame in this phase"),
    "force_": Column("N", "force of the handle or obstacle on the sheets at the end, its length and its parts"),
    "displacement_": Column("m", "mean displacement of its nodes since it took hold, its length and its parts"),
    "work_": Column("J", "its work during the step or frame"),
    "ledger_": Column("J", "sum since the start, see the ledger of energy"),
}
"""Columns that are named after a term, a phase, a handle or an obstacle, by the beginning of their names."""

LOG: dict[str, Column] = {
    "frame": Column("", "the frame that the step belongs to"),
    "faces": QUANTITIES["faces"],
    "time": Column("s", "simulated time at the end of the step or frame"),
    "step": Column("s", "length of the step"),
    "steps": Column("", "accepted steps of the frame"),
    "iterations": Column("", "iterations of Newton's method"),
    "contacts": Column("", "pairs in contact at the end of the step"),
    "contacts_max": Column("", "most pairs in contact in a step of the frame"),
    "min_gap": Column("m", "smallest gap of all pairs in contact"),
    "seconds": Column("s", "wall time"),
    "retries": Column("", "attempts that were given up for a shorter step"),
    "note": Column("", "which obstacles were held back, what creases and cracks have done"),
    "trouble": Column("", "why the last attempt was given up"),
    "warnings": Column("", "what the frame has to tell"),
    "linear_solver": Column("", "name of the linear solver"),
}
"""Of `Recording.table`, beside the families."""

TABLES: dict[str, dict[str, Column]] = {
    "density": {
        "r_over_R": Column("", "middle of the shell, over the radius of the smallest ball"),
        "density_over_mean": Column("", "mass per volume over that of the ball if it were filled evenly"),
        "volume_fraction": Column("", "volume of the material in the shell over that of the shell"),
        "mass_share": Column("", "share of the mass in the shell"),
    },
    "orientation": {
        "cosine": Column("", "middle of a class of |n · r̂|"),
        "density": Column("", "probability density over the area"),
    },
    "curvature_radii": {
        "R_over_t": Column("", "middle of a class of radii, over the thickness"),
        "density_R1": Column("", "probability density of the smaller radius, over the area"),
        "density_R2": Column("", "the same of the larger radius"),
    },
    "cross_section": {
        "x0_m": Column("m", "one end of a cut, first axis of the plane"),
        "y0_m": Column("m", "one end of a cut, second axis of the plane"),
        "x1_m": Column("m", "other end, first axis"),
        "y1_m": Column("m", "other end, second axis"),
    },
    "ridges": {
        "length_m": Column("m", "length of a ridge in the pattern"),
        "kind": Column("", "between facets, or open: it ends in a facet"),
    },
    "facets": {"area_m2": Column("m²", "area of a facet in the pattern")},
    "creases": {
        "quantity": Column("", "mileage_m, turn_m_rad, worked_turn_m_rad, hinge_length_m, mean_angle_rad, area_share"),
        "value": Column("", "its value, in the unit of its name; the turn is Σ A ‖S_p‖, the rest as in the summary"),
    },
    "crease_lines": {
        "sheet": Column("", "name of the sheet"),
        "label": Column("", "label of the edges of the line"),
        "name": Column("", "name of what drives it"),
        "drive": Column("", "set, hard, spring, free, or nothing"),
        "length_m": Column("m", "length in the pattern"),
        "angle_deg": Column("°", "mean fold angle, 0 flat, mountains positive, weighted by length"),
        "least_deg": Column("°", "least angle along it"),
        "most_deg": Column("°", "largest angle along it"),
        "target_deg": Column(
            "°", "angle that it is driven to at this time; of a set line that at rest, if it is bent by 1° at least"
        ),
        "off_deg": Column("°", "angle less target"),
        "spring_back_deg": Column("°", "angle beyond that at rest"),
        "moment_N": Column("N", "moment per length that holds it"),
        "broken": Column("", "places of it that are broken"),
        "limit_deg": Column("°", "angle from which on layers that lie on each other keep it from closing further"),
        "stopped_by": Column("", "what keeps it from its target: thickness, layers that touch, or facets"),
    },
    "energies": {
        "energy": Column("", "term, kinetic or contact"),
        "joule": Column("J", "its energy in this frame"),
    },
    "ledger": {
        "column": Column("", "column of the ledger of energy"),
        "joule": Column("J", "its sum since the start"),
        "meaning": Column("", "what it holds"),
    },
    "fits": {
        "sample": Column("", "what the law is fitted to, with its unit"),
        "law": Column("", "name of the law"),
        "parameters": Column("", "its parameters"),
        "log_likelihood": Column("", "log-likelihood of the sample"),
        "ks_distance": Column("", "Kolmogorov–Smirnov distance"),
        "count": Column("", "size of the sample"),
    },
    "cracks": {
        "crack": Column("", "number of the crack"),
        "sheet": Column("", "number of the sheet"),
        "u_m": Column("m", "point of its path in the pattern"),
        "v_m": Column("m", "point of its path in the pattern"),
    },
    "forces": {
        "handle": Column("", "name of the handle or obstacle"),
        "time_s": Column("s", "simulated time"),
        "displacement_m": Column("m", "distance from where it took hold"),
        "force_N": Column("N", "size of its force on the sheets"),
        **{f"d{axis}_m": Column("m", f"displacement along {axis}") for axis in "xyz"},
        **{f"F{axis}_N": Column("N", f"force along {axis}") for axis in "xyz"},
        "work_J": Column("J", "its work during the step"),
    },
    "mass_size": {
        "recording": Column("", "name of the recording; in the last row, the exponent"),
        "mass_kg": Column("kg", "mass of the sheets"),
        "radius_m": Column("m", "radius of the smallest ball"),
    },
    "mileage": {
        "crumple": Column("", "how often the sheet was crumpled, 1, 2, …; only where it was more than once"),
        "closed_frame": Column("", "frame in which the container is smallest"),
        "opened_frame": Column("", "frame in which it is then largest, in which the creases are measured"),
        "mileage": Column("", "mileage over the square root of the area"),
        "hinge_length": Column("", "length of the hinges bent for good over the same"),
        "worked_mileage": Column("", "worked mileage over the same"),
        "compaction": Column("", "Δ: radius of the closed sheet over that of the flat one"),
    },
    "confinement": {
        "container": Column("", "name of a closed obstacle that shrinks"),
        "frame": Column("", "number of the frame"),
        "radius_m": Column("m", "R: radius of a ball of its volume"),
        "force_N": Column("N", "F = −dE/dR, E the energy of its contact with the sheets"),
        "self_contact_N": Column(
            "N", "−Σ x·∂E/∂x over R, E the energy of contact between sheets: F from layer to layer"
        ),
        "contact_energy_J": Column("J", "energy of all contact, of sheets with themselves and with the container"),
    },
    "columns": {
        "table": Column("", "file that the column is in, or summary"),
        "column": Column("", "its name"),
        "unit": Column("", "its unit, empty for plain numbers and texts"),
        "meaning": Column("", "what it holds"),
    },
}
"""Of the CSV files of `crumple analyze`, by their names."""


def describe_column(name: str) -> Column | None:
    """What a number of a summary, a metric or a column of the log is; None when nobody has said so."""
    plain = name.partition("@")[0]
    found = QUANTITIES.get(plain) or LOG.get(plain)
    return found or next((column for start, column in FAMILIES.items() if plain.startswith(start)), None)
