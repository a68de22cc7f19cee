"""Tuned numbers stand in the tuning modules and nowhere else, with a reason, and the page that lists them is theirs."""

from __future__ import annotations

import ast
import importlib.util
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import crumple
from crumple.runtime.tuned import Tuned

DOCS = Path(__file__).parents[2] / "docs"
SOURCE = Path(crumple.__file__).parent
NOT_TUNED = {
    "contact/candidates.py": {"SQRT2"},
    "contact/intersection.py": {"ORIENT_ERROR"},  # a bound that is proved
    "contact/pair_energy.py": {"TERMS", "TINY"},  # the rank of a Hessian; what is zero but for underflow
    "developable/adoption.py": {"STRAIGHT", "MOST_CORNERS"},  # roundings; a limit of what is accepted
    "developable/creases.py": {"ON_BORDER"},  # roundings
    "developable/cuts.py": {"SAME"},
    "developable/engine.py": {"FRAME_TIME"},
    "developable/fading.py": {"INWARDS"},  # far more than roundings
    "developable/memory.py": {"HALF"},  # of a whole
    "developable/refinement.py": {"PASSES"},  # a limit
    "developable/sessions.py": {"SIZE", "CORNERS", "WEIGHTLESS"},  # of the figures that are repeated
    "developable/transfer.py": {"SAME"},  # roundings
    "developable/triangulate.py": {"ON_EDGE"},
    "developable/view_mesh.py": {"APART"},  # of numbers that are names
    "energies/traced/declaration.py": {"LONGEST_NAME", "MOST_NUMBERS"},  # limits of what is accepted
    "energies/traced/source.py": {"_LONGEST"},  # the length of a line
    "linalg/cholesky.py": {  # codes of MKL
        "_CBWR_AUTO",
        "_ANALYSE",
        "_FACTORISE",
        "_SOLVE",
        "_RELEASE",
        "_NOT_POSITIVE_DEFINITE",
    },
    "plasticity/crease_marks.py": {"CREASE_LABEL"},
    "remeshing/measure.py": {"EQUILATERAL"},
    "remeshing/sizing/combine.py": {"REACH_TOLERANCE"},  # two roundings
    "remeshing/surface.py": {"FEATURE_LABEL"},
    "runtime/reading.py": {"MOST_BYTES", "MOST_TEXT", "MOST_LINES", "LONGEST_LINE"},  # limits of what is read
    "session/arguments.py": {"NOT_TURNED", "MOST_POINTS"},  # roundings; a limit of what is accepted
    "scenes/pattern_scene.py": {"SHAPE"},  # a place
    "session/driving.py": {"QUARTER", "SAME"},  # a right angle; roundings
    "session/picking.py": {"OUTSIDE"},  # roundings
    "session/script.py": {"VERSION", "MOST_BYTES"},  # of the format; a limit of what is read
    "session/session.py": {"SHORTEST", "LONGEST", "KEPT_EVENTS"},  # roundings; limits of what is accepted and kept
    "session/tape.py": {"BLOCK"},  # of storage
    "session/surroundings.py": {"AIR", "NEVER"},
    "solving/newton_options.py": {"NEVER"},
    "state/problems.py": {"UNIT", "MOST"},  # far more than roundings
    "stepping/schemes.py": {"GAMMA", "SPAN", "WEIGHT", "ERROR_WEIGHTS"},  # weights of TR-BDF2
    "terms/pressing.py": {"MOST_REPORTED"},  # the length of a message
}
"""Numbers that nobody chose by experience: of mathematics, codes and labels, and limits of messages."""
PARTLY = {"scenes": {"pattern_scene.py"}, "analysis": {"confinement.py"}}
"""Packages most of whose numbers are limits of what is accepted and definitions of what is measured, and the modules of
them that are looked at."""


def load():
    spec = importlib.util.spec_from_file_location("tuning_page", DOCS / "tuning.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = load()


def constants(text: str) -> set[str]:
    """Names that the text of a module, or a class in it, binds to numbers that are written there.

    Numbers are literals and what arithmetic and calls make of these. Codes are left out: whole numbers in a row, such
    as 0, 1, 2, that are bound to several names at once, and single negative whole numbers.
    """
    tree = ast.parse(text)
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef) and not node.bases)]
    found: set[str] = set()
    for statement in (statement for body in bodies for statement in body):
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target = statement.target
        else:
            continue
        names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
        if statement.value is not None and all(map(str.isupper, names)) and _holds_number(statement.value):
            found |= set() if _is_code(statement.value, len(names)) else set(names)
    return found


def _holds_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float) and not isinstance(value.value, bool)
    if isinstance(value, ast.UnaryOp):
        return _holds_number(value.operand)
    if isinstance(value, ast.BinOp):
        return _holds_number(value.left) or _holds_number(value.right)
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).removeprefix("np.") in FUNCTIONS and any(map(_holds_number, value.args))
    return isinstance(value, ast.Tuple | ast.List) and any(map(_holds_number, value.elts))


FUNCTIONS = {"cos", "sin", "tan", "sqrt", "exp", "log", "radians", "float", "int", "float64", "array"}


def _is_code(value: ast.expr, count: int) -> bool:
    try:
        numbers = ast.literal_eval(value)
    except ValueError:
        return False
    if count == 1:
        return isinstance(numbers, int) and numbers < 0
    return all(isinstance(k, int) for k in numbers) and all(abs(b - a) == 1 for a, b in pairwise(numbers))


@pytest.mark.parametrize("package", PAGE.PACKAGES)
def test_numbers_are_tuned_in_the_tuning_module_only(package):
    loose = {}
    for path in (SOURCE / package).rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        if path.name not in PARTLY.get(package, {path.name}):
            continue
        found = constants(path.read_text(encoding="utf-8"))
        if place.split("/", 1)[1] != "tuning.py" and found - NOT_TUNED.get(place, set()):
            loose[place] = sorted(found - NOT_TUNED.get(place, set()))
    assert not loose, f"move them to crumple/{package}/tuning.py"


def test_numbers_that_are_not_tuned_exist():
    for place, names in NOT_TUNED.items():
        assert names <= constants((SOURCE / place).read_text(encoding="utf-8")), place


def test_the_rule_finds_numbers_and_leaves_codes():
    text = "A = 3\nB, C = 0.5, 2\nD = cos(radians(60.0))\nclass K:\n    L = 4\n    m = 5\n"
    text += "E, F = 0, 1\nG = -1\nH = T.value\nI = True\n"
    assert constants(text) == {"A", "B", "C", "D", "L"}


def test_packages_with_numbers_have_a_tuning_module():
    expected = {"contact", "energies", "linalg", "plasticity", "remeshing", "solving", "stepping", "tearing", "terms"}
    assert expected <= set(PAGE.PACKAGES)


def test_a_name_means_one_thing():
    names = Counter(name for package in PAGE.PACKAGES for name in PAGE.entries(package))
    assert not [name for name, count in names.items() if count > 1]


@pytest.mark.parametrize("package", PAGE.PACKAGES)
def test_entries_have_a_unit_and_a_reason_and_are_used(package):
    modules = [path for path in SOURCE.rglob("*.py") if path.name != "tuning.py"]
    used = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    for name, entry in PAGE.entries(package).items():
        assert isinstance(entry, Tuned), name
        assert all((entry.unit, entry.why, entry.chosen_on, entry.breaks)), name
        assert entry.why.endswith("."), name
        assert f".{name}.value" in used, f"nothing uses {package}.{name}"


def test_the_page_is_that_of_the_modules():
    page = (DOCS / "tuning.md").read_text(encoding="utf-8")
    assert page == PAGE.page(), "run: python docs/tuning.py"
