"""Penetration-free contact [Li2020]: broad phase, barrier, friction, safe step lengths, intersection tests."""

from crumple.contact.barrier import Approach, Barrier, active_pairs, barrier_energy, least_relative_gap, min_gap
from crumple.contact.candidates import Candidates, SurfaceTrees, find_candidates
from crumple.contact.friction import Friction, make_friction
from crumple.contact.intersection import Intersection, describe_intersection, find_intersections, has_intersections
from crumple.contact.neighbours import Neighbours, find_along
from crumple.contact.safe_step import StepLimit, candidate_parts, step_limit
from crumple.contact.surface import Surface, free_first, make_surface, restrict_surface

__all__ = [
    "Approach",
    "Barrier",
    "Candidates",
    "Friction",
    "Intersection",
    "Neighbours",
    "StepLimit",
    "Surface",
    "SurfaceTrees",
    "active_pairs",
    "barrier_energy",
    "candidate_parts",
    "describe_intersection",
    "find_along",
    "find_candidates",
    "find_intersections",
    "free_first",
    "has_intersections",
    "least_relative_gap",
    "make_friction",
    "make_surface",
    "min_gap",
    "restrict_surface",
    "step_limit",
]
