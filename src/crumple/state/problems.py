"""What cannot be true of a state, beyond its mesh: tips that end no crack, damage below 0."""

from __future__ import annotations

import numpy as np

from crumple.state.state import State

UNIT = 1e-6
"""How far the length of a heading may be from 1: far more than rounding makes of it."""

MOST = 1e12
"""Of speeds of cracks [m/s] and of how fast their loads fall [1/m]: no sheet comes near it."""


def state_problems(state: State) -> list[str]:
    """One line for each kind of problem; empty when all is well. The mesh must be sound (`validate_mesh`)."""
    tips, damage = state.tips, state.damage
    problems = []
    inner = np.flatnonzero(~state.mesh.boundary_nodes[tips.node])
    if len(inner):
        problems.append(f"the tip of a crack at node {tips.node[inner[0]]} is not on the border of the sheet")
    turned = np.flatnonzero(np.abs(np.linalg.norm(tips.heading, axis=1) - 1.0) > UNIT)
    if len(turned):
        problems.append(f"the tip of a crack at node {tips.node[turned[0]]} has a heading that is no unit vector")
    for name, values in (("speed", tips.pace), ("fall of the load", tips.fall)):
        odd = np.flatnonzero(~((values >= 0.0) & (values <= MOST)))
        if len(odd):
            problems.append(f"the {name} of the crack at node {tips.node[odd[0]]} is {values[odd[0]]:.6g}")
    odd = np.flatnonzero(~(np.abs(tips.due) <= MOST))
    if len(odd):
        problems.append(f"the way that the crack at node {tips.node[odd[0]]} is due is {tips.due[odd[0]]:.6g}")
    wrong = np.flatnonzero(damage < 0.0)
    if len(wrong):
        problems.append(f"the damage of face {wrong[0]} is {damage[wrong[0]]:.6g}, below 0")
    return problems
