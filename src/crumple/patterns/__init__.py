"""Crease patterns: FOLD and SVG files, generators, checks, rigid folding, and meshes with labelled creases."""

from crumple.patterns.checks import Finding, check_pattern
from crumple.patterns.fold_file import encode_fold, read_fold, write_fold
from crumple.patterns.generators import box, kresling, miura, pleats, waterbomb
from crumple.patterns.meshing import PatternMesh, mesh_pattern
from crumple.patterns.pattern import CreasePattern
from crumple.patterns.reading import read_pattern
from crumple.patterns.rigid import FoldedFacets, fold_angles, fold_facets, folding_angles
from crumple.patterns.svg_file import encode_svg, read_svg, write_svg
from crumple.patterns.tube import kresling_tube

__all__ = [
    "CreasePattern",
    "Finding",
    "FoldedFacets",
    "PatternMesh",
    "box",
    "check_pattern",
    "encode_fold",
    "encode_svg",
    "fold_angles",
    "fold_facets",
    "folding_angles",
    "kresling",
    "kresling_tube",
    "mesh_pattern",
    "miura",
    "pleats",
    "read_fold",
    "read_pattern",
    "read_svg",
    "waterbomb",
    "write_fold",
    "write_svg",
]
