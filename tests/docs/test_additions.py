"""The table "To add something" of CONTRIBUTING.md is true: one of each is added to a copy of the package, in the files
that it names and no others, and works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import crumple

ROOT = Path(__file__).parents[2]
PACKAGE = Path(crumple.__file__).parent

TERM = '''
from dataclasses import dataclass

import numpy as np

from crumple.contract import EnergyTerm, Term
from crumple.energies.inertia import node_masses
from crumple.energies.nodal import all_nodes, make_nodal


@dataclass(frozen=True)
class Nest(Term):
    """A spring from every node to the origin; `rate` [1/s²]."""

    materials: tuple
    rate: float
    name = "nest"

    def mount(self, state):
        mass = node_masses(state.mesh, self.materials)
        energy = make_nodal(all_nodes(len(mass)), np.zeros_like(state.x), self.rate * mass)
        return EnergyTerm("nest", lambda state: energy).mount(state)
'''

FORMAT = '''
from crumple.recording.files import write_atomically


def write_points(snapshot, path, clip, material):
    """One line per vertex."""
    write_atomically(path, "".join(f"{x} {y} {z}\\n" for x, y, z in snapshot.surface.vertex_x).encode())
'''

ENGINE = '''
import numpy as np

from crumple.simulation.engine import Engine, Moment
from crumple.stepping.reports import StepReport


class Rising(Engine):
    """Everything rises by 1 m/s."""

    def __init__(self, model, state):
        self._at = Moment(model, state)

    model = property(lambda self: self._at.model)
    state = property(lambda self: self._at.state)
    moment = property(lambda self: self._at)

    def restore(self, moment):
        self._at = moment

    def change(self, model, state):
        self._at = Moment(model, state)

    def advance(self, until, observer):
        step = until - self.state.time
        state = self.state.replaced(x=self.state.x + np.array([0.0, 0.0, step]), time=until)
        self._at = Moment(self.model, state)
        return StepReport(until, step, 0, 0, np.inf, {}, 0.0)

    def close_frame(self, observer):
        self._at = Moment(self.model, self.state.replaced(frame=self.state.frame + 1))
'''

COMMAND = '''

@app.command()
@guarded
def greet(name: str) -> None:
    """Say good day."""
    typer.echo(f"good day, {name}")
'''

OWN_CRITERION = '''

@dataclass(frozen=True)
class Even:
    """Edges of at most `refine_even` [m]."""

    refine_even: float

    def __call__(self, state: State) -> Floats:
        return np.full(state.mesh.face_count, self.refine_even)
'''

# what is added: in which file, before which text (None: at the end, or as a new file), what
ADDED: dict[str, list[tuple[str, str | None, str]]] = {
    "a field of the state": [
        ("state/state.py", "    pins: Pins =", '    gloss: Floats = attached("face", 1, "conserve", optional=True)\n')
    ],
    "a field to colour by": [
        (
            "analysis/fields.py",
            '    "damage": SheetField(',
            '    "depth": SheetField("depth [m]", "Below the origin.", "node", lambda state: -state.x[:, 2]),\n',
        )
    ],
    "an energy term with a key": [
        ("terms/nest.py", None, TERM),
        ("model/model.py", "from crumple.terms import (", "from crumple.terms.nest import Nest\n"),
        (
            "model/model.py",
            "        if self.attachments:\n",
            "        if self.solver.nest:\n            terms.append(Nest(self.materials, self.solver.nest))\n",
        ),
        (
            "options/solver.py",
            "    max_step: Annotated[",
            '    nest: Annotated[float, Quantity("1/s²", least=0, most=1e6), "Pull to the origin."] = 0.0\n',
        ),
    ],
    "a sizing criterion with a key": [
        (
            "options/sizing.py",
            "    refine_obstacle: Annotated[",
            '    refine_even: Annotated[float, Quantity("m", above=0, or_infinite=True), "Longest edge."] = math.inf\n',
        ),
        (
            "remeshing/sizing/criteria.py",
            "    if isfinite(options.refine_damage):\n",
            "    if isfinite(options.refine_even):\n        yield Even(options.refine_even)\n",
        ),
        ("remeshing/sizing/criteria.py", None, OWN_CRITERION),
    ],
    "a key of the solver": [
        (
            "options/solver.py",
            "    max_step: Annotated[",
            '    patience: Annotated[float, Quantity("s", above=0, most=10), "How long to wait."] = 0.25\n',
        )
    ],
    "an export format": [
        ("export/points.py", None, FORMAT),
        (
            "export/export.py",
            "from crumple.export.surface import Snapshot\n",
            "from crumple.export.points import write_points\n",
        ),
        ("export/export.py", '    "usd": Format(', '    "points": Format((".xyz",), frames={".xyz": write_points}),\n'),
    ],
    "a command": [("cli/app.py", None, COMMAND)],
    "an engine": [("simulation/rising.py", None, ENGINE)],
}

SCENE = """
run = { duration = 0.08 }
[solver]
nest = 3
patience = 2
[remeshing]
size_min = 1e-3
size_max = 0.2
refine_even = 0.03
[contact]
enabled = false
[[sheets]]
shape = { kind = "rectangle", width = 0.1, height = 0.1, size = 0.05 }
material = "paper80"
"""

USED = """
import sys
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import crumple
from crumple.analysis.fields import recording_field
from crumple.cli.app import app
from crumple.session.session import Session
from crumple.simulation.demands import state_sizing
from crumple.simulation.rising import Rising

folder = Path(sys.argv[1])
assert Path(crumple.__file__).is_relative_to(folder), crumple.__file__
built = crumple.build(crumple.load_scene(folder / "scene.toml"))
model, state = built.model, built.state
assert model.solver.patience == 2.0
assert "nest" in [term.name for term in model.terms]
assert np.allclose(state_sizing(model, state)[:, 0], 0.03**-2)

state = state.replaced(gloss=np.ones(state.mesh.face_count))
recorder = crumple.create_recording(folder / "out")
last = crumple.run(model, state, [recorder], frames=1)
recording = crumple.Recording(folder / "out")
assert last.mesh.face_count > state.mesh.face_count
assert recording.model().solver.nest == 3.0
assert np.isclose(recording.load(1).gloss @ last.mesh.face_area, state.mesh.face_area.sum())
for name, count in (("gloss", last.mesh.face_count), ("depth", last.mesh.node_count)):
    assert recording_field(name, recording, "").values(last).shape == (count,)
assert max(recording.table()["energy_nest"]) > 0.0

written = crumple.export_recording(recording, output=folder / "last.xyz", frames="-1")
assert np.loadtxt(written[0]).shape == (last.mesh.vertex_count, 3)
assert CliRunner().invoke(app, ["greet", "paper"]).stdout == "good day, paper\\n"

session = Session(Rising(model, state))
session.advance_frame()
assert np.allclose(session.state.x[:, 2] - state.x[:, 2], model.frame_time)
"""


def listed() -> dict[str, set[str]]:
    """The files that the table of CONTRIBUTING.md names, by what is added."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (an? [^|]+?) \| ([^|]+) \|", text.partition("## To add something")[2], re.MULTILINE)
    return {what: set(re.findall(r"`([\w/]+\.py)`", files)) for what, files in rows}


@pytest.mark.parametrize("what", ADDED)
def test_the_table_names_the_files(what: str) -> None:
    files = {file for file, _, _ in ADDED[what]}
    new = {file for file in files if not (PACKAGE / file).exists()}
    assert {str(Path(file).with_name("NAME.py")) if file in new else file for file in files} == listed()[what]


def test_nothing_else_is_listed() -> None:
    assert set(listed()) == set(ADDED)


def test_one_of_each_works(tmp_path: Path) -> None:
    copy = tmp_path / "crumple"
    shutil.copytree(PACKAGE, copy, copy_function=_copy)
    for file, before, text in (one for what in ADDED.values() for one in what):
        path = copy / file
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if before is not None:
            assert old.count(before) == 1, f"{file}: {before}"
        path.write_text(old + text if before is None else old.replace(before, text + before), encoding="utf-8")
    (tmp_path / "scene.toml").write_text(SCENE, encoding="utf-8")
    (tmp_path / "used.py").write_text(USED, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "used.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr


def _copy(source: str, target: str) -> None:
    """Copy a file, with its time so that compiled kernels stay valid; others may be writing theirs at the same time."""
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        if "__pycache__" not in source:
            raise
