"""What a user may decide: every option with its unit, range, default and meaning."""

from crumple.options.contact import ContactOptions
from crumple.options.plasticity import PlasticityOptions
from crumple.options.remeshing import Criterion, RemeshingOptions, RemeshOptions
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.options.tearing import Tearing, WeakLine

__all__ = [
    "ContactOptions",
    "Criterion",
    "PlasticityOptions",
    "RemeshOptions",
    "RemeshingOptions",
    "SizingOptions",
    "SolverOptions",
    "Tearing",
    "WeakLine",
]
