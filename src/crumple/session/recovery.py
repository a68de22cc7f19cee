"""The way out when every step of a session fails: hands let go, sheets come to rest, and if need be it goes back.

Every part of it is an action of the session, so that a script repeats it to the bit.
"""

from __future__ import annotations

from collections.abc import Collection

from crumple.session.session import Session


def recover(session: Session, dt: float, kept: Collection[str] = ()) -> int:
    """Go on by `dt` [s] from the present state, or from the last earlier one from which that is possible.

    All hands but those that are `kept` let go, and the sheets come to rest. Returns how many places it went back by,
    twice as many after each failure; where none of them helps, the session begins anew, and the answer is -1.
    """
    gone, before = 0, session.undo_count
    while not _goes_on(session, dt, kept):
        if not before:
            session.reset()
            return -1
        stride = min(max(gone, 1), before)
        session.undo(session.undo_count - before + stride)  # releases are places, too
        gone, before = gone + stride, session.undo_count
    return gone


def _goes_on(session: Session, dt: float, kept: Collection[str]) -> bool:
    for hand in session.hands:
        if hand not in kept:
            session.release(hand)
    session.calm()
    try:
        session.advance(dt, keep=False)
    except Exception:  # whatever it is, the way back may lead to where it does not happen
        return False
    return True
