"""Crease patterns: FOLD and SVG files, generators, checks, rigid folding, and meshes with labelled creases."""

from crumple.patterns.checks import Finding, can_fold_flat, check_pattern
from crumple.patterns.fold_file import encode_fold, read_fold, write_fold
from crumple.patterns.generators import GENERATORS, box, kresling, miura, pleats, waterbomb
from crumple.patterns.meshing import PatternMesh, mesh_pattern
from crumple.patterns.pattern import CreasePattern, make_pattern
from crumple.patterns.planar import pattern_from_segments
from crumple.patterns.reading import read_pattern
from crumple.patterns.rigid import FoldedFacets, fit_angles, fold_angles, fold_facets, vertex_misfit
from crumple.patterns.svg_file import encode_svg, read_svg, write_svg
from crumple.patterns.tube import Tube, kresling_tube

__all__ = [
    "GENERATORS",
    "CreasePattern",
    "Finding",
    "FoldedFacets",
    "PatternMesh",
    "Tube",
    "box",
    "can_fold_flat",
    "check_pattern",
    "encode_fold",
    "encode_svg",
    "fit_angles",
    "fold_angles",
    "fold_facets",
    "kresling",
    "kresling_tube",
    "make_pattern",
    "mesh_pattern",
    "miura",
    "pattern_from_segments",
    "pleats",
    "read_fold",
    "read_pattern",
    "read_svg",
    "vertex_misfit",
    "waterbomb",
    "write_fold",
    "write_svg",
]
