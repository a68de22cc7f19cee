"""Few trials find where a crack comes to rest."""

from math import exp

import pytest

from crumple.tearing.rest import TOLERANCE, Rest

LOADS = {
    "slack at once": lambda distance: 200.0 * exp(-distance / 0.3),
    "slow": lambda distance: 1.6 * exp(-distance / 4.0),
    "stiff, then slow": lambda distance: 100.0 * exp(-distance / 0.2) + 1.4 * exp(-distance / 5.0),
    "straight": lambda distance: 3.0 - distance,
    "nothing left": lambda distance: max(0.0, 5.0 - 4.0 * distance),
}


@pytest.mark.parametrize("name", LOADS)
@pytest.mark.parametrize("first", [0.02, 0.5, 2.0])
def test_few_trials_find_the_way(name, first):
    load = LOADS[name]
    rest = Rest(load(0.0), first, room=10.0)
    for _ in range(10):
        found = rest.distance
        rest.tried(load(rest.distance))
        if rest.is_done:
            break
    assert rest.is_done
    assert abs(load(found) - 1.0) <= TOLERANCE


def test_a_tip_goes_as_far_as_there_is_room_and_not_back_beyond_the_least():
    rest = Rest(100.0, 0.5, room=1.0, least=0.1)
    rest.tried(50.0)
    assert rest.distance == 1.0
    rest.tried(20.0)
    assert rest.is_done
    back = Rest(1.1, 0.5, room=1.0, least=0.1)
    for _ in range(20):
        back.tried(0.2)
        if back.is_done:
            break
    assert back.is_done
    assert back.distance == pytest.approx(0.1)


def test_where_the_sheet_snaps_the_search_ends_soon():
    rest = Rest(3.0, 1.0, room=10.0)
    for _ in range(12):
        rest.tried(2.0 if rest.distance < 1.37 else 0.3)
        if rest.is_done:
            break
    assert rest.is_done
    assert rest.distance == pytest.approx(1.37, rel=0.04)
    assert rest.distance >= 1.37
