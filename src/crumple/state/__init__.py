"""What varies during a run, and how it follows changes of the mesh."""

from crumple.state.change import Change, close_change, no_change
from crumple.state.cracks import Tips, Torn, make_tips, no_tips, nothing_torn
from crumple.state.ledger import Ledger
from crumple.state.ragged import Bonds, CreaseRows, Pins, no_bonds, no_creases, no_pins
from crumple.state.state import OwnField, State, attached_values, initial_state, state_fields
from crumple.state.transfer import merge, transfer

__all__ = [
    "Bonds",
    "Change",
    "CreaseRows",
    "Ledger",
    "OwnField",
    "Pins",
    "State",
    "Tips",
    "Torn",
    "attached_values",
    "close_change",
    "initial_state",
    "make_tips",
    "merge",
    "no_bonds",
    "no_change",
    "no_creases",
    "no_pins",
    "no_tips",
    "nothing_torn",
    "state_fields",
    "transfer",
]
