"""Tearing: what the user decides, what resists, what pulls apart."""

from crumple.tearing.options import Tearing, WeakLine

__all__ = ["Tearing", "WeakLine"]
