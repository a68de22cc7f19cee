"""Times, air, switches and constants of an ARCSim scene as tables."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

from crumple.scenes.arcsim.json import Entry
from crumple.scenes.messages import suggest

NO_END = 10.0
"""How long a scene runs whose file gives no end [s]."""
FRICTION, OBSTACLE_FRICTION = 0.6, 0.3
"""Defaults that ARCSim's annotated scene states."""
HANDLE_STIFFNESS = 1e3
"""Of handles when the file gives none [N/m]; comments in public scene files say so."""
JITTER = 1e-6
"""Offsets along the normal that break symmetry [m]."""
LARGEST_ACTIVATION = 1e-3
"""Contact is felt from this distance at most unless the file says otherwise [m]."""
SIZE_FRACTION = 0.25
"""And at most from this fraction of the smallest edge, so that a face meets few others."""

_OWN_STEPS = "steps adapt to the motion here"
_PENETRATION_FREE = "contact cannot penetrate here and needs no such constant"
_MAGIC = {
    "collision_stiffness": _PENETRATION_FREE,
    "projection_thickness": "the contact thickness is that of the material",
    "fixed_high_res_mesh": "the mesh is as fine as its file and the remeshing table say",
    "strain_limiting_tol": "a barrier keeps strains below their limit here and needs no tolerance",
    "edge_flip_threshold": "a rule of the remeshing here",
    "max_cracks": "cracks begin wherever the sheet is pulled apart",
    "enable_localopt": "a step is solved again after every advance of a crack",
}
_SWITCHES = (
    "proximity",
    "collision",
    "remeshing",
    "popfilter",
    "plasticity",
    "strainlimiting",
    "separation",
    "fracture",
)


def run_table(scene: Entry) -> dict[str, Any]:
    """Frame time and duration [s]."""
    frame_time = _frame_time(scene)
    if scene.has("frame_steps"):
        steps = scene.number("frame_steps")
        if not steps > 0:
            raise scene.error("must be > 0", steps, key="frame_steps")
        scene.ignore("frame_steps", f"{_OWN_STEPS}; --set solver.fixed_step={frame_time / steps:.6g} takes the file's")
    scene.ignore("remeshing_frames", "remeshing happens once per frame")
    scene.ignore("passive_time", _OWN_STEPS)
    scene.ignore("implicit", "every step is implicit")
    ends = [scene.number(key, inf) for key in ("duration", "end_time")]
    ends.append(frame_time * scene.number("end_frame", inf))
    duration = min(ends)
    if duration == inf:
        scene.notes.add(("end_time",), f"not given, {NO_END:g} s taken; --until says otherwise")
        duration = NO_END
    return {"frame_time": frame_time, "duration": duration}


def _frame_time(scene: Entry) -> float:
    """Frame time [s]: given, or some time steps."""
    step = scene.optional_number("timestep")
    if scene.has("frame_time"):
        key, frame_time = "frame_time", scene.number("frame_time")
        scene.ignore("timestep", _OWN_STEPS)
        for given in ("save_frames", "save_every"):
            scene.ignore(given, "every frame is saved")
    elif step is not None:
        key, frame_time = "timestep", step * scene.number("frame_steps", _saved_steps(scene))
        scene.ignore("timestep", f"{_OWN_STEPS}; it gives the frame time, --set run.frame_time=… changes it")
    else:
        raise scene.error("this key is missing (or timestep)", key="frame_time")
    if not (isfinite(frame_time) and frame_time > 0):
        raise scene.error("must be > 0, in s", frame_time, key=key)
    return frame_time


def _saved_steps(scene: Entry) -> float:
    """Time steps between saved ones; `save_every` is the newer name."""
    return scene.number("save_every", scene.number("save_frames", 1.0))


def environment_table(scene: Entry) -> dict[str, Any]:
    """Gravity (none by default) and air (still, of density 1, by default)."""
    wind = scene.entry("wind")
    air = {
        "density": wind.number("density", 1.0),
        "velocity": wind.vector("velocity", 3, [0.0, 0.0, 0.0]),
        "drag": wind.number("drag", 0.0),
    }
    wind.close()
    return {"gravity": scene.vector("gravity", 3, [0.0, 0.0, 0.0]), "wind": air}


def disabled_parts(scene: Entry) -> set[str]:
    """What the file switches off."""
    names = scene.items("disable")
    for name in names:
        if not isinstance(name, str):
            raise scene.error("must be a list of names", name, key="disable")
        if name == "physics":
            raise scene.error("sheets always follow their physics here", name, key="disable")
        if name and name not in _SWITCHES:
            scene.notes.add(("disable", name), "unknown, ignored" + suggest(name, _SWITCHES))
    off = set(names)
    if len(off & {"proximity", "collision"}) == 1:
        scene.notes.add(("disable", min(off & {"proximity", "collision"})), "contact is one thing here and stays on")
    if "separation" in off:
        scene.notes.add(("disable", "separation"), "nothing intersects here, so there is nothing to separate")
    return off


def contact_table(scene: Entry, magic: Entry, off: set[str], remeshing: list[dict[str, Any]]) -> dict[str, Any]:
    """Friction, and the distance from which contact is felt."""
    table: dict[str, Any] = {"friction": scene.number("friction", FRICTION)}
    reach = magic.number("repulsion_thickness", LARGEST_ACTIVATION)
    if not reach > 0:
        raise magic.error("must be > 0, in m", reach, key="repulsion_thickness")
    finest = min((SIZE_FRACTION * table["size_min"] for table in remeshing), default=LARGEST_ACTIVATION)
    table["activation"] = min(reach, finest)
    if magic.has("repulsion_thickness") and reach > finest:
        text = f"contact is felt from {finest:g} m, as edges may be that small; --set contact.activation changes it"
        magic.notes.add((*magic.path, "repulsion_thickness"), text)
    if {"proximity", "collision"} <= off:
        table["enabled"] = False
    return table


def handle_stiffness(magic: Entry) -> float:
    """Stiffness of all handles [N/m]."""
    return magic.number("handle_stiffness", HANDLE_STIFFNESS)


def jitter_table(magic: Entry) -> dict[str, Any]:
    """The jitter of all sheets, if asked for: enough to break symmetry, too little to see."""
    return {"jitter": {"amplitude": JITTER}} if _switch(magic, "add_jitter") else {}


def rest_table(magic: Entry) -> dict[str, Any]:
    """What all sheets are at rest: bent as they start if their creases are to be kept."""
    keeps = [_switch(magic, key) for key in ("preserve_creases", "reset_plasticity")]
    return {"rest": "bent"} if any(keeps) else {}


def relax_table(magic: Entry) -> dict[str, Any]:
    """Whether the sheets are relaxed before the first frame: ARCSim does so whatever its files say, unless one forbids
    it."""
    return {"relax": _switch(magic, "relax_initial_state", default=True)}


def sizing_table(magic: Entry) -> dict[str, Any]:
    """How the sizing field is made, as far as the constants say: rib stiffening, combination of criteria."""
    table: dict[str, Any] = {}
    if magic.has("rib_stiffening"):
        table["rib_stiffening"] = _switch(magic, "rib_stiffening")
    if magic.has("combine_tensors"):
        table["combine"] = "disk" if _switch(magic, "combine_tensors") else "sum"
    return table


def _switch(entry: Entry, key: str, *, default: bool = False) -> bool:
    """True or false, also when written as a number."""
    value = entry.take(key, default)
    if not isinstance(value, bool | int | float):
        raise entry.error("must be true or false", value, key=key)
    return bool(value)


def close_magic(magic: Entry) -> None:
    """Note the constants that mean nothing here."""
    for key, reason in _MAGIC.items():
        magic.ignore(key, reason)
    magic.close()
