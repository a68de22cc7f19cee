"""Statistics of crumpled sheets: density, orientation, curvature, ridges, facets, creases, energies."""

from crumple.analysis.analyze import Analysis, analyze_recording, analyze_state, load_frame, most_confined
from crumple.analysis.comparison import compare, save_comparison, write_comparison
from crumple.analysis.creases import Creases, MileageLaw, fit_mileage, measure_creases
from crumple.analysis.figures import save_figures
from crumple.analysis.fits import Fit, PowerLaw, fit_laws, fit_power
from crumple.analysis.foil_ball import check_foil_ball, compare_ball
from crumple.analysis.pressure import EqualPressure, PressureCurve, container_pressures, equal_pressure, pressure_curves
from crumple.analysis.reference import Band
from crumple.analysis.repeated import Crumple, MileageCurve, find_crumples, mass_size, mileage_curve
from crumple.analysis.ridges import RidgeNetwork, find_ridges
from crumple.analysis.section import CrossSection, cross_section
from crumple.analysis.shape import SheetShape, measure_shape
from crumple.analysis.tables import write_tables
from crumple.analysis.tears import Crack, HandleCurve, Ledger, Tears, handle_curves, measure_tears, path_distance

__all__ = [
    "Analysis",
    "Band",
    "Crack",
    "Creases",
    "CrossSection",
    "Crumple",
    "EqualPressure",
    "Fit",
    "HandleCurve",
    "Ledger",
    "MileageCurve",
    "MileageLaw",
    "PowerLaw",
    "PressureCurve",
    "RidgeNetwork",
    "SheetShape",
    "Tears",
    "analyze_recording",
    "analyze_state",
    "check_foil_ball",
    "compare",
    "compare_ball",
    "container_pressures",
    "cross_section",
    "equal_pressure",
    "find_crumples",
    "find_ridges",
    "fit_laws",
    "fit_mileage",
    "fit_power",
    "handle_curves",
    "load_frame",
    "mass_size",
    "measure_creases",
    "measure_shape",
    "measure_tears",
    "mileage_curve",
    "most_confined",
    "path_distance",
    "pressure_curves",
    "save_comparison",
    "save_figures",
    "write_comparison",
    "write_tables",
]
