"""A small ARCSim-style scene with its files, written for tests; tests change the record."""

import copy
import json
from pathlib import Path
from typing import Any

SQUARE = """v 0 0 0
nl 1
v 1 0 0
v 1 1 0
nl 2
v 0 1 0
v 0.5 0.5 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vt 0.5 0.5
f 1/1 2/2 5/5
f 2/2 3/3 5/5
f 3/3 4/4 5/5
f 4/4 1/1 5/5
"""
WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
CLOTH = {
    "density": 0.2,
    "stretching": [[1000, 0, 1000, 500]] * 6,
    "bending": [[4e-5] * 5] * 3,
}
SCENE: dict[str, Any] = {
    "frame_time": 0.04,
    "frame_steps": 8,
    "end_time": 2,
    "cloths": [
        {
            "mesh": "meshes/square.obj",
            "transform": {"translate": [0, 0, 0.5], "rotate": [90, 0, 0, 2], "scale": 0.5},
            "materials": [{"data": "materials/cloth.json", "thicken": 2, "bending_mult": 3, "yield_curv": 50}],
            "remeshing": {
                "refine_angle": 0.3,
                "refine_compression": 0.005,
                "size": [0.02, 0.2],
                "aspect_min": 0.2,
            },
        }
    ],
    "motions": [
        [
            {"time": 0, "transform": {"scale": 0.1}},
            {
                "time": 1,
                "transform": {"scale": 0.1, "translate": [0, 0, 0.1]},
                "velocity": {"translate": [0, 0, 1]},
            },
            {"time": 2, "transform": {"scale": 0.1, "translate": [0, 0, 0.2]}},
        ]
    ],
    "handles": [{"nodes": [0, 2], "end_time": 1, "fade_time": 0.5}, {"label": 2, "start_time": 1.5}],
    "obstacles": [{"mesh": "meshes/wedge.obj", "transform": {"translate": [5, 0, 0]}, "motion": 0}],
    "gravity": [0, 0, -9.8],
    "magic": {"repulsion_thickness": 2e-3, "handle_stiffness": 500},
}


def scene() -> dict[str, Any]:
    """A copy to change."""
    return copy.deepcopy(SCENE)


def write(root: Path, record: Any, name: str = "conf/scene.json") -> Path:
    """The scene file (a text is written as it is) beside its meshes and materials."""
    for folder in ("conf", "meshes", "materials"):
        (root / folder).mkdir(exist_ok=True)
    (root / "meshes/square.obj").write_text(SQUARE)
    (root / "meshes/wedge.obj").write_text(WEDGE)
    (root / "materials/cloth.json").write_text("// a cloth\n" + json.dumps(CLOTH))
    path = root / name
    path.write_text(record if isinstance(record, str) else json.dumps(record))
    return path
