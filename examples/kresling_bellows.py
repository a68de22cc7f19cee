"""A Kresling bellows is pressed down, let go, and stays down: its second stable height follows from its edges alone."""

import numpy as np

import crumple
from crumple.boundary import Handle
from crumple.boundary.creases import Crease
from crumple.boundary.motions import Key, make_motion
from crumple.energies.wind import Wind
from crumple.patterns import kresling_tube
from crumple.state import Pins, initial_state

SIDES, RADIUS, HEIGHT, TWIST = 6, 0.03, 0.045, np.radians(45)


def make():
    tube = kresling_tube(SIDES, RADIUS, HEIGHT, TWIST, size=0.012)
    wall = crumple.Material.from_stiffness("film", stretch=1e5, bend=0.05, thickness=5e-4, density=0.5, damping=1e-3)
    cap = crumple.Material.from_stiffness("card", stretch=1e6, bend=10.0, thickness=2e-3, density=2.0)
    labels = np.unique(tube.mesh.edge_label[tube.mesh.edge_label > 0])
    creases = Crease("creases", 0, labels, np.zeros(1), np.zeros((1, len(labels))), drive="free")
    down = make_motion("press", [Key(0.1), Key(0.5, translate=(0, 0, -0.011))])
    handles = (Handle("base"), Handle("press", motion=down, end=0.55, stiffness=1e4))
    held = np.append(np.flatnonzero(tube.x[:, 2] < 1e-9), tube.centres[1]).astype(np.int32)
    pins = Pins(held, (held == tube.centres[1]).astype(np.int32), tube.x[held])
    model = crumple.Model((wall, cap), handles=handles, creases=(creases,), wind=Wind(drag=1.0), duration=1.0)
    return model, initial_state(tube.mesh, tube.x, pins=pins), tube


if __name__ == "__main__":
    model, state, tube = make()
    last = crumple.run(model, state)
    height, other = last.x[tube.corners[1], 2].mean(), np.pi - 2 * np.pi / SIDES - TWIST
    expected = np.sqrt(HEIGHT**2 + 2 * RADIUS**2 * (np.cos(other) - np.cos(TWIST)))
    print(f"{1e3 * HEIGHT:.2f} mm high, pressed and let go: {1e3 * height:.2f} mm ({1e3 * expected:.2f} by its edges)")
    assert abs(height / expected - 1) < 0.02
