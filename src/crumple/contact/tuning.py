"""Tuned numbers of contact, friction and collision checks."""

from __future__ import annotations

from dataclasses import dataclass

from crumple.runtime.tuned import Tuned


@dataclass(frozen=True)
class Tuning:
    """The tuned numbers of this package; each is chosen here and nowhere else."""

    contacts_per_chunk: Tuned[int] = Tuned(
        256,
        "contacts",
        "Contacts, with friction and damping, that one thread handles together; sums are formed per chunk, then "
        "over chunks in order.",
        breaks="Another size sums in another order: results differ by rounding.",
    )
    queries_per_chunk: Tuned[int] = Tuned(64, "queries", "Queries of the search tree that one thread handles together.")
    pairs_per_chunk: Tuned[int] = Tuned(512, "pairs", "Pairs that one thread tests or filters together.")
    first_pass_hits: Tuned[int] = Tuned(
        16, "hits", "Hits per query kept in the counting pass; only queries with more are traversed again."
    )
    intersection_tolerance: Tuned[float] = Tuned(
        1e-14, "1", "Distance relative to the largest coordinate below which uncertain primitives count as touching."
    )
    nearly_parallel: Tuned[float] = Tuned(
        1e-3,
        "1",
        "Edges with |e1 × e2|² below this times the rest |e1|² |e2|² are nearly parallel [Li2020, §5].",
        chosen_on="the value of [Li2020]",
    )
    near_rest_fraction: Tuned[float] = Tuned(
        0.5, "1", "Pairs of one sheet act only below this fraction of their rest distance."
    )
    least_rest_fraction: Tuned[float] = Tuned(
        1e-5,
        "1",
        "Least rest distance of a pair of one sheet over its longest edge at rest.",
        breaks="Without it lips of cuts that cross in `node_rest` have a barrier that begins where rounding ends: "
        "Newton's method stalls, or they pass through each other.",
    )
    least_rest_distance: Tuned[float] = Tuned(
        1e-7, "m", "The same, at most: below the rest distance of the lips of a fresh cut (`tearing.kerf_at_rest`)."
    )
    core_fraction: Tuned[float] = Tuned(0.1, "1", "Fraction of the activation gap in which the second barrier acts.")
    core_pressure: Tuned[float] = Tuned(100.0, "1", "Pressure of the second barrier over that of the first.")
    rim_series: Tuned[float] = Tuned(
        0.05,
        "1",
        "Fraction of the gap at its rim in which the integral of the barrier is a series of nine terms, which are "
        "exact to 1e-13 there; the closed form loses its digits.",
    )
    kept_gap: Tuned[float] = Tuned(0.1, "1", "Fraction of the gap that a step leaves.")
    close_enough: Tuned[float] = Tuned(
        0.2,
        "1",
        "The search stops when the gap has fallen to this fraction of its start (any time after that is lost).",
    )
    pair_advances: Tuned[int] = Tuned(
        100, "advances", "Advances per pair; at the cap the time reached so far is returned, which is safe."
    )
    certain_gap: Tuned[float] = Tuned(
        0.05,
        "1",
        "Fraction of its target that a pair of corners must be apart along the normal, for a step to be certain.",
        breaks="Above `kept_gap` steps end early; at 0 a normal that rounding has turned lets surfaces pass.",
    )
    kept_gap_slack: Tuned[float] = Tuned(1e-9, "1", "Relative slack on the kept gap when a time is checked.")


TUNING = Tuning()
