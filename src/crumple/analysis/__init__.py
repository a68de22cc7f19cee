"""Statistics of crumpled sheets: density, orientation, curvature, ridges, facets, creases, energies."""

from crumple.analysis.analyze import Analysis, analyze_recording
from crumple.analysis.creases import fit_mileage
from crumple.analysis.figures import save_figures
from crumple.analysis.foil_ball import check_foil_ball
from crumple.analysis.pressure import pressure_curves
from crumple.analysis.tables import write_tables

__all__ = [
    "Analysis",
    "analyze_recording",
    "check_foil_ball",
    "fit_mileage",
    "pressure_curves",
    "save_figures",
    "write_tables",
]
