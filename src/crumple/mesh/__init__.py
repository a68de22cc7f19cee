"""Sheets as flat arrays: connectivity with seams, generators, OBJ files, validation and topology edits."""

from crumple.mesh.buffers import Buffers, Maps, compact, grow, open_buffers
from crumple.mesh.combine import concatenate
from crumple.mesh.edits import (
    Refusal,
    collapse_edge,
    cut_edges,
    edge_feature,
    edge_is_seam,
    flip_edge,
    plan_collapse,
    plan_flip,
    plan_split,
    split_edge,
)
from crumple.mesh.fields import Field, field_columns
from crumple.mesh.io.obj import ObjData, read_obj, write_obj
from crumple.mesh.io.obj_sheet import (
    choose_pattern,
    merge_pattern_and_world,
    sheet_from_obj,
    sheet_texture,
    surface_from_obj,
)
from crumple.mesh.rings import Links
from crumple.mesh.sheet_mesh import BOUNDARY, Hinges, SheetMesh, make_sheet_mesh
from crumple.mesh.surroundings import surroundings
from crumple.mesh.validate import check_mesh, validate_mesh

__all__ = [
    "BOUNDARY",
    "Buffers",
    "Field",
    "Hinges",
    "Links",
    "Maps",
    "ObjData",
    "Refusal",
    "SheetMesh",
    "check_mesh",
    "choose_pattern",
    "collapse_edge",
    "compact",
    "concatenate",
    "cut_edges",
    "edge_feature",
    "edge_is_seam",
    "field_columns",
    "flip_edge",
    "grow",
    "make_sheet_mesh",
    "merge_pattern_and_world",
    "open_buffers",
    "plan_collapse",
    "plan_flip",
    "plan_split",
    "read_obj",
    "sheet_from_obj",
    "sheet_texture",
    "split_edge",
    "surface_from_obj",
    "surroundings",
    "validate_mesh",
    "write_obj",
]
