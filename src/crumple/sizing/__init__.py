"""How fine the mesh should be: one criterion per file, their combination, and the field on vertices."""

from crumple.sizing.field import compute_sizing, face_sizing
from crumple.sizing.options import SizingOptions
from crumple.sizing.transfer import vertex_sizing

__all__ = ["SizingOptions", "compute_sizing", "face_sizing", "vertex_sizing"]
