"""Cases of the fuzzer that were once a finding and have no bytes to keep: their numbers, by target."""

from __future__ import annotations

FOUND_NUMBERS: dict[str, tuple[int, ...]] = {
    # slits that cross or turn back: lips crossed each other in `node_rest`, where contact measures what is one sheet;
    # lips that cross at a small angle, which were taken for parallel (from 20022 on)
    # and a new mesh with as many faces as the old one, whose sheets were mixed up (30421); lips so nearly parallel that
    # no step was certain (30016, 30339); forces of slivers that a new mesh could have only half a sheet away (30203)
    "stepped": (20042, 20083, 20092, 20103, 20256, 20022, 20384, 30421, 30016, 30339, 30203),
    # a path of a crack so far away that its speed was not a number
    "history": (9000062,),
}
