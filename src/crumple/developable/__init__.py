"""Developable paper after [Schreck2015]: flat regions, cones of rulings, singular points, and exact isometry."""

from crumple.developable.creases import Crease
from crumple.developable.engine import DevelopableEngine, developable_sheet
from crumple.developable.hands import Hand
from crumple.options.developable import DevelopableOptions

__all__ = ["Crease", "DevelopableEngine", "DevelopableOptions", "Hand", "developable_sheet"]
