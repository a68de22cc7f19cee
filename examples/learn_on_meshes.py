"""A dataset of a few runs, as graphs for a neural network that predicts the next frame.

    python examples/learn_on_meshes.py

A sheet of paper falls on a ball, tilted by several angles, and its mesh follows the folds. The runs become one dataset,
every frame a graph: nodes are the nodes of the sheet, edges those of the mesh and of the contacts. What is to be
predicted is by how much a node misses the place where its velocity would take it. That is NumPy; where PyTorch
Geometric is installed (`pip install torch torch_geometric`), a small message-passing network then learns from all runs
but the last, on which it is tested. Frames of one run are much alike, so training and test are split by runs.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import crumple
from crumple.studies.datasets import Dataset, Frame

TILTS = (4, 10, 22, 28, 16)
"""By how much the sheet is tilted in each run [degrees]; the last one is for testing."""
FRAMES, EPOCHS = 8, 100
COARSE = ("sheets[0].shape.size=0.02", "remeshing.size_min=0.01", "remeshing.size_max=0.04")
LENGTH, SPEED = 0.02, 1.0
"""What lengths [m] and velocities [m/s] are measured in, so that the network sees numbers near 1."""

Graph = dict[str, np.ndarray]


def make_dataset(folder: Path) -> Path:
    """Record the runs and collect them."""
    runs = []
    for tilt in TILTS:
        runs.append(folder / f"tilted_{tilt}")
        change = f"sheets[0].transform.rotate.angle={tilt}"
        crumple.simulate("demo", out=runs[-1], overrides=[*COARSE, change], frames=FRAMES)
    return crumple.write_dataset(runs, folder / "falling.h5")


def graph_of(now: Frame, then: Frame) -> Graph:
    """A frame and what comes next as arrays: features of nodes and edges, the edges, and what is to be predicted."""
    edges = np.concatenate([now.mesh.edges, now.mesh.edges[:, ::-1], contact_edges(now)])
    sender, receiver = edges.T
    u = np.concatenate([now.mesh.node_u, np.zeros((len(now.obstacle_x), 2))])
    x = np.concatenate([now.x, now.obstacle_x])
    v = np.concatenate([now.v, np.zeros_like(now.obstacle_x)])
    is_contact = (np.arange(len(edges)) >= 2 * len(now.mesh.edges))[:, None]
    along, rest = x[sender] - x[receiver], np.where(is_contact, 0.0, u[sender] - u[receiver])
    lengths = np.stack([np.linalg.norm(along, axis=1), np.linalg.norm(rest, axis=1)], axis=1)
    is_obstacle = (np.arange(len(x)) >= len(now.x))[:, None]
    dt = then.time - now.time
    missed = then.x - now.x - dt * now.v
    return {
        "x": np.concatenate([v / SPEED, is_obstacle], axis=1).astype(np.float32),
        "edge_index": np.stack([sender, receiver]).astype(np.int64),
        "edge_attr": np.concatenate([along / LENGTH, rest / LENGTH, lengths / LENGTH, is_contact], axis=1).astype(
            np.float32
        ),
        "y": (missed / (SPEED * dt)).astype(np.float32),
        "dt": np.array([dt]),
    }


def contact_edges(frame: Frame) -> np.ndarray:
    """Pairs of nodes that touch, both ways, (n, 2): the nearest node on each side of every contact."""
    contacts = frame.contacts
    if contacts is None or not len(contacts.nodes):
        return np.zeros((0, 2), np.int64)
    side = np.where(contacts.is_edges, 2, 1)[:, None]
    weight, place = np.abs(contacts.weight), np.arange(4)[None]
    rows = np.arange(len(contacts.nodes))
    one = contacts.nodes[rows, np.where(place < side, weight, -1.0).argmax(axis=1)]
    other = contacts.nodes[rows, np.where(place >= side, weight, -1.0).argmax(axis=1)]
    pairs = np.unique(np.sort(np.stack([one, other], axis=1), axis=1), axis=0)
    return np.concatenate([pairs, pairs[:, ::-1]])


def graphs_of(data: Dataset) -> list[list[Graph]]:
    """The graphs of each run; the next frame is carried to the mesh of the present one."""
    return [[graph_of(now, then) for now, then in run.pairs()] for run in data]


def error(graphs: list[Graph], predicted: list[np.ndarray]) -> float:
    """Mean distance between predicted and true positions after one frame [m]."""
    missed = [
        SPEED * graph["dt"] * np.linalg.norm(graph["y"] - guess[: len(graph["y"])], axis=1)
        for graph, guess in zip(graphs, predicted, strict=True)
    ]
    return float(np.concatenate(missed).mean())


def train(graphs: list[Graph], test: list[Graph]) -> list[np.ndarray]:
    """What a small network predicts for `test` after it has learned from `graphs` (needs PyTorch Geometric)."""
    import torch
    from torch import nn
    from torch_geometric.data import Data
    from torch_geometric.nn import MessagePassing

    def layers(inputs: int, outputs: int, width: int = 64) -> nn.Module:
        return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))

    class Interaction(MessagePassing):
        def __init__(self, width: int) -> None:
            super().__init__(aggr="add")
            self.edge, self.node = layers(3 * width, width), layers(2 * width, width)

        def forward(self, h: Any, edge_index: Any, e: Any) -> Any:
            return h + self.node(torch.cat([h, self.propagate(edge_index, h=h, e=e)], dim=1))

        def message(self, h_i: Any, h_j: Any, e: Any) -> Any:
            return self.edge(torch.cat([h_i, h_j, e], dim=1))

    class Network(nn.Module):
        def __init__(self, width: int = 32, rounds: int = 4) -> None:
            super().__init__()
            self.node, self.edge = layers(4, width), layers(8, width)
            self.rounds = nn.ModuleList([Interaction(width) for _ in range(rounds)])
            self.out = layers(width, 3)

        def forward(self, data: Any) -> Any:
            h, e = self.node(data.x), self.edge(data.edge_attr)
            for one in self.rounds:
                h = one(h, data.edge_index, e)
            return self.out(h)

    def as_data(graph: Graph) -> Any:
        return Data(**{name: torch.from_numpy(graph[name]) for name in ("x", "edge_index", "edge_attr", "y")})

    torch.manual_seed(0)
    network, samples = Network(), [as_data(graph) for graph in graphs]
    adam = torch.optim.Adam(network.parameters(), lr=2e-3)
    for _ in range(EPOCHS):
        for k in torch.randperm(len(samples)).tolist():
            adam.zero_grad()
            nn.functional.mse_loss(network(samples[k])[: len(samples[k].y)], samples[k].y).backward()
            adam.step()
    with torch.no_grad():
        return [network(as_data(graph)).numpy() for graph in test]


def main() -> dict[str, float]:
    """Make the dataset, print how well the next frame is predicted, and return the errors by method [m]."""
    with TemporaryDirectory() as folder, crumple.load_dataset(make_dataset(Path(folder))) as data:
        changes = sum(run.mesh(k) is not run.mesh(k - 1) for run in data for k in range(1, len(run)))
        runs = graphs_of(data)
    print(f"{len(runs)} runs, {sum(map(len, runs))} graphs; the mesh changed {changes} times")
    *learned, test = runs
    errors = {"velocity goes on": error(test, [np.zeros_like(graph["y"]) for graph in test])}
    try:
        errors["network"] = error(test, train([graph for run in learned for graph in run], test))
    except ImportError as missing:
        print(f"no network without PyTorch Geometric: pip install torch torch_geometric ({missing})")
    for name, value in errors.items():
        print(f"{name:20s} misses the next frame by {1e3 * value:.3f} mm on average")
    return errors


if __name__ == "__main__":
    found = main()
    assert 1e-5 < found["velocity goes on"] < 1e-2, found
    assert found.get("network", 0.0) < found["velocity goes on"], found
