"""Where a crack comes to rest: the way at which Γ, the load of its tip over what it bears, has fallen to 1.

Every value of Γ costs a solve, so few of them must do. Between a way that is too short and one that is too long, 1/Γ
grows about evenly, as a taut sheet goes slack; on either side Γ falls about exponentially. So the secant of 1/Γ, or of
log Γ, through the last two ways is followed, between the longest way known to be too short and the shortest known to be
too long.
"""

from __future__ import annotations

from math import inf, log

from crumple.tearing.tuning import TUNING

TOLERANCE = TUNING.rest_tolerance.value
TINY = TUNING.unloaded.value
LEAST_GROWTH = TUNING.least_rest_growth.value
MOST_GROWTH = TUNING.most_rest_growth.value
MOST_RETREAT = TUNING.most_retreat.value
MARGIN = TUNING.rest_margin.value
NARROW = TUNING.rest_narrow.value
SLACK = TUNING.slack.value
NEAR = log(TUNING.near_rest.value)


def _slackness(ratio: float) -> float:
    """1 − 1/Γ, which falls about evenly with the way; bounded where the sheet is wholly slack."""
    return 1.0 - 1.0 / max(ratio, SLACK)


class Rest:
    """The search for the way [m] at which a tip comes to rest that is loaded by `ratio` Γ > 1 at the start.

    `distance`: where to try next, at first as given;  `room` [m]: it cannot go farther;  `least` [m]: nor less far;
    `fall` [1/m]: how fast Γ is expected to fall where it is 1, 0 if nothing is known, and as it was found last;
    `tolerance`: by how much Γ may be off 1;  `is_done`: Γ = 1 there, or there is no better way.
    """

    def __init__(
        self,
        ratio: float,
        distance: float,
        room: float,
        least: float = 0.0,
        fall: float = 0.0,
        *,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.room, self.least, self.fall, self.tolerance = room, least, fall, tolerance
        self._is_known = fall > 0.0
        self.distance = min(max(distance, least), room)
        self.is_done, self._is_narrow = False, False
        self._low, self._high = 0.0, inf
        self._last = (0.0, ratio)

    def tried(self, ratio: float) -> None:
        """Take note of Γ at `distance`, and choose the next way."""
        distance = self.distance
        is_end = distance >= self.room if ratio > 1.0 else distance <= self.least
        if is_end or abs(ratio - 1.0) <= self.tolerance:
            self.is_done = True
            return
        self._low, self._high = (distance, self._high) if ratio > 1.0 else (self._low, distance)
        last, self._last = self._last, (distance, ratio)
        if self._high - self._low < NARROW * self._high:
            self.is_done = ratio <= 1.0 or self._is_narrow
            self._is_narrow, self.distance = True, self._high  # where the sheet snaps, it is slack beyond
            return
        self.distance = min(self.room, max(self.least, self._next(last, self._last)))

    def _next(self, first: tuple[float, float], second: tuple[float, float]) -> float:
        """Where the secant through two ways reaches Γ = 1, within what is known."""
        (a, p), (b, q) = (first[0], max(first[1], TINY)), (second[0], max(second[1], TINY))
        before, now = (log(p), log(q)) if (p > 1.0) == (q > 1.0) else (_slackness(p), _slackness(q))
        fall = (before - now) / (b - a) if b != a else 0.0
        if self._is_known:
            fall, self._is_known = self.fall, False
        elif fall > 0.0 and max(abs(log(p)), abs(log(q))) < NEAR:
            self.fall = fall
        wanted = b + now / fall if fall > 0.0 else inf
        if self._high == inf:
            return min(max(wanted, LEAST_GROWTH * b), MOST_GROWTH * b)
        margin = MARGIN * (self._high - self._low)
        if wanted == inf:
            wanted = 0.5 * (self._low + self._high)
        if wanted < self._low + margin and self._low <= self.least:
            # no way is known that is too short: there may be none; but a sheet that has been slack is taut all at once
            return max(self.least, b - MOST_RETREAT * (a - b)) if b < a else self.least
        return min(max(wanted, self._low + margin), self._high - margin)
