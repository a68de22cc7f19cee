"""Bending that stays: yielding, damage, rest angles, creases, and what remeshing does to them."""

from crumple.geometry.curvature import rest_angle
from crumple.plasticity.crease_lines import InsertedLine, edges_on_polyline, insert_polyline, label_hinges
from crumple.plasticity.crease_marks import crease_hinges, mark_creases, unmark_creases
from crumple.plasticity.creases import (
    crease_damage,
    crease_from_edges,
    crease_from_labels,
    crease_from_shape,
    hinge_labels,
)
from crumple.plasticity.fold_work import bending_work
from crumple.plasticity.rest_angle_rule import follow_angle, follow_curvature, follow_fraction
from crumple.plasticity.stretching import total_strain, yield_strain
from crumple.plasticity.yielding import (
    Yielded,
    YieldLaw,
    crease_tensor,
    make_yield_law,
    uniform_yield_law,
    yield_curvature,
    yield_work,
)

__all__ = [
    "InsertedLine",
    "YieldLaw",
    "Yielded",
    "bending_work",
    "crease_damage",
    "crease_from_edges",
    "crease_from_labels",
    "crease_from_shape",
    "crease_hinges",
    "crease_tensor",
    "edges_on_polyline",
    "follow_angle",
    "follow_curvature",
    "follow_fraction",
    "hinge_labels",
    "insert_polyline",
    "label_hinges",
    "make_yield_law",
    "mark_creases",
    "rest_angle",
    "total_strain",
    "uniform_yield_law",
    "unmark_creases",
    "yield_curvature",
    "yield_strain",
    "yield_work",
]
