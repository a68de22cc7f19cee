"""Hundreds of malformed scenes and meshes: each gives one line that names the file and the key, nothing else."""

import math
import os

import pytest
import tomli_w
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scene_tables import RICH, SMALL, at, changed, leaves, rich, small

from crumple.runtime.errors import InputError
from crumple.scenes import build, check_scene, scene_from_tables
from crumple.scenes.messages import place

WRONG = [
    pytest.param(value, id=name)
    for name, value in {
        "nan": math.nan,
        "inf": math.inf,
        "minus-inf": -math.inf,
        "text": "twelve",
        "empty-text": "",
        "true": True,
        "list": [],
        "table": {},
        "deep": [[[[1]]]],
        "huge-integer": 10**400,
        "hex-integer": 16**5000,
        "minus-huge": -1e300,
        "newlines": "a\nb\u2028c\x00",
    }.items()
]


def still_valid(path, value) -> bool:
    """Whether a wrong value happens to be right at this place."""
    key, old = path[-1], at(RICH, path)
    if path == ("description",):
        return isinstance(value, str)
    if isinstance(old, bool):
        return value is True
    if key in ("pairs", "keys", "holes") or path[0] == "quick":
        return True
    return key == "name" and value == "twelve"


PATHS = [path for path in leaves(RICH) if path[0] != "quick"]


def check_message(message: str, source: str, key: str | None) -> None:
    """One printable line of modest length that starts with the file and names the key."""
    assert message.startswith(source)
    assert message.isprintable()
    assert len(message) < 700
    assert "Traceback" not in message
    assert "Error" not in message
    if key is not None:
        assert key in message


@pytest.mark.parametrize("value", WRONG)
def test_wrong_values_at_every_key(value):
    """Each of the 13 wrong values at each of the keys of the rich scene: more than 1500 scenes."""
    count = 0
    for path in PATHS:
        if still_valid(path, value):
            continue
        with pytest.raises(InputError) as caught:
            build(scene_from_tables(changed(RICH, path, value), source="scene.toml"))
        key = place("", path).removeprefix(": ")
        if path[-2:] == ("select", "kind") or path[-1] != "kind":
            key = place("", path[:3] if path[0] in ("motions", "sheets") else path[:2]).removeprefix(": ")
        check_message(str(caught.value), "scene.toml: ", key)
        count += 1
    assert count >= 100


@pytest.mark.parametrize("path", PATHS, ids=lambda path: place("", path))
def test_keys_with_a_typing_error(path):
    """Every key of the rich scene misspelt: named, and the right one suggested."""
    if isinstance(path[-1], int):
        return
    tables = changed(RICH, path, ...)
    at(tables, path[:-1])[path[-1] + "x"] = at(RICH, path)
    if path[0] == "motions" and len(path) == 2:
        return
    with pytest.raises(InputError) as caught:
        build(scene_from_tables(tables, source="scene.toml"))
    problems = " | ".join(getattr(caught.value, "problems", ()))
    if path[-1] != "kind":
        assert f"{place('', path)[2:]}x: unknown key; did you mean {path[-1]!r}?" in problems
    check_message(str(caught.value), "scene.toml: ", None)


def shape(**keys):
    """The small scene with another sheet shape."""
    tables = small()
    tables["sheets"][0]["shape"] = keys
    return tables


def part(group: str, *parts, **others):
    """The small scene with handles, obstacles, pairs or motions."""
    tables = small() | others
    tables[group] = list(parts)
    return tables


def motions(**named):
    return small() | {"motions": named}


def material(**keys):
    return changed(SMALL, ("sheets", 0, "material"), keys)


def obstacle(**keys):
    return part("obstacles", {"shape": keys})


def handle(**keys):
    return part("handles", {"select": keys})


BALL = {"kind": "sphere", "radius": 0.01, "center": [0, 0, 1]}
SOLID = {"thickness": 1e-4, "density": 0.1}
ALL = {"kind": "all"}

SCENES = {
    # nothing there
    "empty": ({}, "sheets"),
    "no-sheets": ({"sheets": []}, "sheets"),
    "sheets-a-table": ({"sheets": {}}, "sheets"),
    "sheets-a-number": ({"sheets": 3}, "sheets"),
    "sheet-a-number": ({"sheets": [3]}, "sheets[0]"),
    "sheet-empty": ({"sheets": [{}]}, "sheets[0]"),
    "too-many-sheets": ({"sheets": [small()["sheets"][0]] * 1001}, "sheets"),
    "name-with-newline": (small() | {"name": "a\nb"}, "name"),
    "name-too-long": (small() | {"name": "a" * 65}, "name"),
    "name-with-slash": (small() | {"name": "../../x"}, "name"),
    "description-too-long": (small() | {"description": "a" * 10_001}, "description"),
    "unknown-section": (small() | {"physics": {}}, "physics"),
    "odd-key": (small() | {"a b\n\u2028c": 1}, "a b"),
    "enormous-key": (small() | {"k" * 10_000: 1}, "kkk"),
    "remeshing-not-here": (small() | {"remeshings": {"size": 1}}, "remeshings"),
    # sizes
    "absurd-sheet": (shape(kind="rectangle", width=1e4, height=1e4, size=1e-9), "sheets[0].shape"),
    "absurd-disk": (shape(kind="disk", radius=1e4, size=1e-6), "sheets[0].shape"),
    "absurd-cylinder": (shape(kind="cylinder", circumference=600, height=100, size=1e-4), "sheets[0].shape"),
    "absurd-moebius": (shape(kind="moebius", length=1e4, width=1e3, size=1e-3), "sheets[0].shape"),
    "absurd-outline": (shape(kind="outline", points=[[0, 0], [1e4, 0], [0, 1e4]], size=1e-3), "sheets[0].shape"),
    "absurd-strip": (shape(kind="rectangle", width=1e4, height=1e-6, size=1e-4), "sheets[0].shape"),
    "absurd-sphere": (obstacle(kind="sphere", radius=1e4, size=1e-3), "obstacles[0].shape"),
    "absurd-plane": (obstacle(kind="plane", width=1e4, height=1e4, size=1e-3), "obstacles[0].shape"),
    "absurd-box": (obstacle(kind="box", extent=[1e4, 1e4, 1e4], size=1e-3), "obstacles[0].shape"),
    "absurd-pole": (obstacle(kind="cylinder", radius=1e3, height=1e4, size=1e-3), "obstacles[0].shape"),
    "together-absurd": (
        {
            "sheets": [
                changed(SMALL, ("sheets", 0, "shape", "size"), 1e-4)["sheets"][0] | {"name": f"s{k}"} for k in (1, 2)
            ]
        },
        "sheets",
    ),
    "absurd-frames": (small() | {"run": {"frame_time": 1e-9, "duration": 1e6}}, "run.frame_time"),
    # shapes
    "no-kind": (shape(width=1, height=1, size=0.1), "sheets[0].shape.kind"),
    "unknown-kind": (shape(kind="hexagon", size=0.1), "sheets[0].shape.kind"),
    "kind-a-number": (shape(kind=3, size=0.1), "sheets[0].shape.kind"),
    "kind-a-list": (shape(kind=["disk"], radius=1, size=0.1), "sheets[0].shape.kind"),
    "obstacle-kind-for-sheet": (shape(kind="sphere", radius=0.1), "sheets[0].shape.kind"),
    "zero-width": (shape(kind="rectangle", width=0, height=1, size=0.1), "sheets[0].shape.width"),
    "unknown-style": (
        shape(kind="rectangle", width=1, height=1, size=0.1, style="hexagonal"),
        "sheets[0].shape.style",
    ),
    "outline-two-points": (shape(kind="outline", points=[[0, 0], [1, 0]], size=0.1), "sheets[0].shape.points"),
    "outline-3d": (shape(kind="outline", points=[[0, 0, 0]] * 3, size=0.1), "sheets[0].shape.points[0]"),
    "outline-on-a-line": (shape(kind="outline", points=[[0, 0], [1, 0], [2, 0]], size=0.1), "sheets[0].shape"),
    "outline-one-point": (shape(kind="outline", points=[[0, 0]] * 4, size=0.1), "sheets[0].shape"),
    "outline-bow-tie": (
        shape(kind="outline", points=[[0, 0], [1, 1], [1, 0], [0, 1]], size=0.2),
        "sheets[0].shape",
    ),
    "hole-outside": (
        shape(
            kind="outline",
            points=[[0, 0], [1, 0], [1, 1], [0, 1]],
            holes=[[[2, 2], [3, 2], [3, 3]]],
            size=0.2,
        ),
        "sheets[0].shape",
    ),
    "hole-across-the-border": (
        shape(
            kind="outline",
            points=[[0, 0], [1, 0], [1, 1], [0, 1]],
            holes=[[[0.5, 0.5], [2, 0.5], [2, 0.6]]],
            size=0.2,
        ),
        "sheets[0].shape",
    ),
    "holes-overlap": (
        shape(
            kind="outline",
            points=[[0, 0], [1, 0], [1, 1], [0, 1]],
            holes=[[[0.2, 0.2], [0.6, 0.2], [0.6, 0.6]], [[0.4, 0.1], [0.8, 0.1], [0.5, 0.5]]],
            size=0.2,
        ),
        "sheets[0].shape",
    ),
    "everything-is-hole": (
        shape(
            kind="outline",
            points=[[0, 0], [1, 0], [1, 1], [0, 1]],
            holes=[[[0, 0], [1, 0], [1, 1], [0, 1]]],
            size=0.2,
        ),
        "sheets[0].shape",
    ),
    # materials
    "no-material": ({"sheets": [{"shape": SMALL["sheets"][0]["shape"]}]}, "sheets[0].material"),
    "unknown-preset": (material(preset="paper8"), "sheets[0].material"),
    "empty-material": (material(), "sheets[0].material"),
    "two-forms": (material(preset="paper80", young=1e9), "sheets[0].material"),
    "young-alone": (material(young=1e9), "sheets[0].material"),
    "young-no-density": (material(young=1e9, thickness=1e-4), "sheets[0].material"),
    "zero-thickness": (material(young=1e9, thickness=0, density=1), "sheets[0].material.thickness"),
    "negative-stiffness": (material(young=-1e9, **SOLID), "sheets[0].material.young"),
    "negative-bend": (material(stretch=1e5, bend=-1e-4, **SOLID), "sheets[0].material.bend"),
    "stretch-alone": (material(stretch=1e5, **SOLID), "sheets[0].material"),
    "poisson-half": (material(young=1e9, poisson=0.5, **SOLID), "sheets[0].material.poisson"),
    "poisson-with-preset": (material(preset="paper80", poisson=0.1), "sheets[0].material"),
    "young-three": (material(young=[1e9, 1e9, 1e9], **SOLID), "sheets[0].material.young"),
    "membrane-alone": (material(membrane=[1, 0, 1, 1], **SOLID), "sheets[0].material"),
    "membrane-indefinite": (
        material(membrane=[1, 5, 1, 1], bending=[1, 1, 1], **SOLID),
        "sheets[0].material",
    ),
    "membrane-negative": (material(membrane=[-1, 0, 1, 1], bending=[1, 1, 1], **SOLID), "sheets[0].material"),
    "poisson-too-large-for-directions": (
        material(young=[1e9, 100e9], poisson=0.4, **SOLID),
        "sheets[0].material",
    ),
    "no-materials-in-list": (changed(SMALL, ("sheets", 0, "materials"), []), "sheets[0].materials"),
    "both-material-and-materials": (changed(SMALL, ("sheets", 0, "materials"), ["paper80"]), "sheets[0].materials"),
    "unknown-in-materials": (
        {"sheets": [{"shape": SMALL["sheets"][0]["shape"], "materials": ["paper80", "paperr"]}]},
        "sheets[0].materials[1]",
    ),
    "material-file-missing": (material(file="cloth.json"), "sheets[0].material.file"),
    # names
    "same-sheet-name": ({"sheets": [small()["sheets"][0] | {"name": "a"}] * 2}, "sheets[1].name"),
    "sheet-and-obstacle": (
        {"sheets": [small()["sheets"][0] | {"name": "a"}], "obstacles": [{"name": "a", "shape": BALL}]},
        "obstacles[0].name",
    ),
    "same-handle-name": (
        part("handles", {"name": "h", "select": ALL}, {"name": "h", "select": ALL}),
        "handles[1].name",
    ),
    "default-name-taken": (
        part("obstacles", {"name": "sheet", "shape": BALL}),
        "obstacles[0].name",
    ),
    "dangling-handle-motion": (part("handles", {"select": ALL, "motion": "fly"}), "handles[0].motion"),
    "dangling-obstacle-motion": (part("obstacles", {"shape": BALL, "motion": "fly"}), "obstacles[0].motion"),
    "dangling-sheet": (part("handles", {"select": ALL, "sheet": "x"}), "handles[0].sheet"),
    "which-sheet": (
        {
            "sheets": [
                small()["sheets"][0] | {"name": name, "transform": {"translate": [k, 0, 0]}}
                for k, name in enumerate("ab")
            ],
            "handles": [{"select": ALL}],
        },
        "handles[0].sheet",
    ),
    "dangling-pair": (
        small() | {"contact": {"pairs": [{"parts": ["sheet", "x"], "friction": 0.1}]}},
        "contact.pairs[0].parts[1]",
    ),
    "pair-of-one": (
        small() | {"contact": {"pairs": [{"parts": ["sheet"], "friction": 0.1}]}},
        "contact.pairs[0].parts",
    ),
    "pair-of-three": (
        small() | {"contact": {"pairs": [{"parts": ["sheet"] * 3, "friction": 0.1}]}},
        "contact.pairs[0].parts",
    ),
    # motions
    "motion-itself": (motions(a={"keys": [{"time": 0}], "relative_to": "a"}), "motions.a.relative_to"),
    "motion-circle": (
        motions(a={"keys": [{"time": 0}], "relative_to": "b"}, b={"keys": [{"time": 0}], "relative_to": "a"}),
        "motions.a.relative_to",
    ),
    "motion-circle-of-three": (
        motions(
            a={"keys": [{"time": 0}], "relative_to": "b"},
            b={"keys": [{"time": 0}], "relative_to": "c"},
            c={"keys": [{"time": 0}], "relative_to": "a"},
        ),
        "relative_to",
    ),
    "motion-dangling": (motions(a={"keys": [{"time": 0}], "relative_to": "z"}), "motions.a.relative_to"),
    "motion-empty": (motions(a={}), "motions.a"),
    "motion-no-keys": (motions(a={"keys": []}), "motions.a"),
    "motions-a-list": (small() | {"motions": [{"keys": []}]}, "motions"),
    "motion-bad-name": (small() | {"motions": {"a b": {"keys": [{"time": 0}]}}}, "motions"),
    "key-times-equal": (motions(a={"keys": [{"time": 1}, {"time": 1}]}), "motions.a.keys[1].time"),
    "key-times-descend": (motions(a={"keys": [{"time": 1}, {"time": 0}]}), "motions.a.keys[1].time"),
    "key-without-time": (motions(a={"keys": [{"scale": 1}]}), "motions.a.keys[0].time"),
    "key-scale-zero": (motions(a={"keys": [{"time": 0, "scale": 0}]}), "motions.a.keys[0].scale"),
    "key-scale-two": (motions(a={"keys": [{"time": 0, "scale": [1, 1]}]}), "motions.a.keys[0].scale"),
    "scale-overshoots": (
        motions(a={"keys": [{"time": k, "scale": s} for k, s in enumerate((1, 0.01, 0.009))]}),
        "motions.a.keys[1].scale",
    ),
    "axis-zero": (
        motions(a={"keys": [{"time": 0, "rotate": {"angle": 1, "axis": [0, 0, 0]}}]}),
        "motions.a.keys[0].rotate.axis",
    ),
    "axis-missing": (motions(a={"keys": [{"time": 0, "rotate": {"angle": 1}}]}), "motions.a.keys[0].rotate.axis"),
    "rate-ends-early": (motions(a={"rate": {"start": 2, "end": 1}}), "motions.a.rate.end"),
    # times
    "handle-ends-early": (part("handles", {"select": ALL, "start": 1, "end": 0.5}), "handles[0].end"),
    "obstacle-ends-early": (part("obstacles", {"shape": BALL, "start": 1, "end": 1}), "obstacles[0].end"),
    "steps-crossed": (small() | {"solver": {"min_step": 0.1, "max_step": 0.01}}, "solver.min_step"),
    "step-longer-than-frame": (small() | {"solver": {"fixed_step": 0.1}}, "solver.fixed_step"),
    "unknown-solver": (small() | {"solver": {"linear_solver": "magic"}}, "solver.linear_solver"),
    "no-frames": (small() | {"run": {"duration": 0}}, "run.duration"),
    # handles
    "select-nothing-box": (handle(kind="box", low=[5, 5, 5], high=[6, 6, 6]), "handles[0]"),
    "select-nothing-ball": (handle(kind="ball", center=[5, 5, 5], radius=0.1), "handles[0]"),
    "select-label": (handle(kind="label", label=9), "handles[0]"),
    "select-label-zero": (handle(kind="label", label=0), "handles[0].select.label"),
    "select-index": (handle(kind="indices", indices=[10**6]), "handles[0]"),
    "select-index-negative": (handle(kind="indices", indices=[-1]), "handles[0].select.indices[0]"),
    "select-index-fraction": (handle(kind="indices", indices=[0.5]), "handles[0].select.indices[0]"),
    "select-index-none": (handle(kind="indices", indices=[]), "handles[0].select.indices"),
    "select-side": (handle(kind="side", side="front"), "handles[0].select.side"),
    "select-extra-key": (handle(kind="boundary", side="left"), "handles[0].select.side"),
    "select-no-points": (handle(kind="nearest", points=[]), "handles[0].select.points"),
    "select-missing": (part("handles", {"motion": "x"}), "handles[0].select"),
    "circle-parallel": (
        part(
            "handles",
            {
                "select": ALL,
                "circle": {"center": [0, 0, 0], "circumference": 1, "axis0": [1, 0, 0], "axis1": [2, 0, 0]},
            },
        ),
        "circle.axis1",
    ),
    "handle-stiffness-negative": (part("handles", {"select": ALL, "stiffness": -1}), "handles[0].stiffness"),
    # obstacles
    "obstacle-no-shape": (part("obstacles", {"name": "x"}), "obstacles[0].shape"),
    "obstacle-file-missing": (obstacle(kind="file", mesh="no.obj"), "obstacles[0].shape.mesh"),
    "obstacle-file-directory": (obstacle(kind="file", mesh="/"), "obstacles[0].shape.mesh"),
    "obstacle-file-device": (obstacle(kind="file", mesh="/dev/zero"), "obstacles[0].shape.mesh"),
    "obstacle-file-null": (obstacle(kind="file", mesh="a\x00b"), "obstacles[0].shape.mesh"),
    "obstacle-file-long": (obstacle(kind="file", mesh="a" * 300), "obstacles[0].shape.mesh"),
    "obstacle-file-very-long": (obstacle(kind="file", mesh="a/" * 3000), "obstacles[0].shape.mesh"),
    "sequence-empty": (obstacle(kind="sequence", meshes=[], interval=1), "obstacles[0].shape.meshes"),
    "sequence-missing": (obstacle(kind="sequence", meshes=["no.obj"], interval=1), "obstacles[0].shape.meshes[0]"),
    "sequence-interval": (obstacle(kind="sequence", meshes=["no.obj"], interval=0), "obstacles[0].shape"),
    "box-flat": (obstacle(kind="box", extent=[1, 1, 0]), "obstacles[0].shape.extent"),
    "obstacle-transform-scale": (
        part("obstacles", {"shape": BALL, "transform": {"scale": -1}}),
        "obstacles[0].transform.scale",
    ),
    # touching
    "starts-in-the-ball": (part("obstacles", {"name": "ball", "shape": BALL | {"center": [0, 0, 0]}}), "ball"),
    "sheets-cross": (
        {
            "sheets": [
                small()["sheets"][0] | {"name": "a"},
                small()["sheets"][0] | {"name": "b", "transform": {"rotate": {"angle": 90, "axis": [1, 0.3, 0]}}},
            ]
        },
        "b",
    ),
}

TEXTS = {
    "empty-file": (b"", "sheets"),
    "spaces": (b"  \n\n\t", "sheets"),
    "only-comment": (b"# nothing", "sheets"),
    "not-utf8": (b'name = "\xff\xfe"', "line 1"),
    "utf16": ('name = "x"'.encode("utf-16"), ""),
    "binary": (bytes(range(256)) * 20, ""),
    "null-bytes": (b"\x00" * 1000, "line 1"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(100), ""),
    "gzip": (b"\x1f\x8b\x08" + bytes(100), ""),
    "json": (b'{"sheets": []}', "line 1"),
    "xml": (b"<scene/>", "line 1"),
    "no-value": (b"name =", ""),
    "no-quotes": (b"name = demo", "line 1"),
    "open-string": (b'name = "demo', ""),
    "open-list": (b"[[sheets]]\nshape = [1, 2", ""),
    "open-table": (b"[run", ""),
    "twice-the-key": (b"name = 'a'\nname = 'b'", ""),
    "twice-the-table": (b"[run]\n[run]\n", ""),
    "table-over-value": (b"run = 1\n[run]\nduration = 2", ""),
    "deep-lists": (b"name = " + b"[" * 20_000, ""),
    "deep-lists-closed": (b"name = " + b"[" * 5000 + b"]" * 5000, ""),
    "deep-tables": (b"name = " + b"{a=" * 20_000, ""),
    "deep-keys": (b".".join([b"a"] * 20_000) + b" = 1", ""),
    "decimal-too-long": (b"name = " + b"9" * 10_000, ""),
    "hex-too-long": (b"name = 0x" + b"f" * 10_000, "name"),
    "date": (b"name = 1979-05-27T07:32:00Z", "name"),
    "time": (b"name = 07:32:00", "name"),
    "control-characters": (b'name = "\x07"', "line 1"),
    "long-line": (b"x" * 10**6, ""),
    "colon": (b"name: demo", "line 1"),
    "merge-conflict": (b"<<<<<<< HEAD\nname = 'a'\n", "line 1"),
}


@pytest.mark.parametrize("case", SCENES)
def test_malformed_scene(case, tmp_path):
    tables, key = SCENES[case]
    file = tmp_path / "scene.toml"
    file.write_text(tomli_w.dumps(tables), "utf-8")
    with pytest.raises(InputError) as caught:
        build(file)
    check_message(str(caught.value), str(file), key)
    report = check_scene(file)
    assert not report.ok
    assert any(key in line for line in report.errors)
    assert all(line.isprintable() for line in report.errors)


@pytest.mark.parametrize("case", TEXTS)
def test_malformed_text(case, tmp_path):
    data, key = TEXTS[case]
    file = tmp_path / "scene.toml"
    file.write_bytes(data)
    with pytest.raises(InputError) as caught:
        build(file)
    check_message(str(caught.value), str(file), key)
    assert check_scene(file).errors


def test_things_that_are_not_scene_files(tmp_path):
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "loop.toml").symlink_to(tmp_path / "loop.toml")
    (tmp_path / "scene.txt").write_text("name = 'x'")
    sources = [pipe, tmp_path / "folder.toml", tmp_path / "loop.toml", tmp_path / "scene.txt", tmp_path / "no.toml"]
    for source in [*sources, "", ".", "/", "a\x00b", "x" * 5000, "no\nscene", "/dev/zero"]:
        with pytest.raises(InputError) as caught:
            build(source)
        assert str(caught.value).isprintable()
        assert check_scene(source).errors


def test_the_corpus_is_large_and_distinct():
    wrong = len(PATHS) * len(WRONG)
    meshes = 40  # test_malformed_mesh.py
    assert len({repr(tables) for tables, _ in SCENES.values()}) == len(SCENES)
    assert wrong + len(PATHS) + len(SCENES) + len(TEXTS) + meshes >= 1500
    assert len(SCENES) + len(TEXTS) >= 140


def test_the_unchanged_scenes_build():
    """The corpus would prove nothing if its bases were refused."""
    model, state, _ = build(scene_from_tables(rich(), source="scene.toml"))
    assert len(model.sheet_names) == 3
    assert len(state.pins.node) > 6
    build(scene_from_tables(small()))


SCALARS = st.one_of(
    st.none().map(lambda _: math.nan),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.text(max_size=8),
    st.sampled_from(["a", "b", "ball", "lift", "turn", "paper80", "left", "disk", "sphere", "file", "", "/", "."]),
)
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(st.text(max_size=6), below, max_size=3)),
    max_leaves=6,
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(leaves(RICH)), VALUES)
@example(("sheets", 0, "shape", "size"), 1e-5)
@example(("motions", "turn", "rate", "end"), 1e-300)
@example(("sheets", 0, "transform", "translate"), [1e4, 1e4, 1e4])
@example(("obstacles", 0, "transform", "scale"), [1e6, 1e-6, 1])
def test_any_value_anywhere_builds_or_is_refused(path, value):
    tables = changed(RICH, path, value)
    try:
        model, state, _ = build(scene_from_tables(tables, source="scene.toml"))
    except InputError as error:
        check_message(str(error), "scene.toml", None)
    else:
        assert state.mesh.face_count > 0
        assert model.frame_count >= 1


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([path[:k] for path in leaves(RICH) for k in range(1, len(path))]), VALUES)
def test_any_value_for_a_whole_table_builds_or_is_refused(path, value):
    try:
        build(scene_from_tables(changed(RICH, path, value), source="scene.toml"))
    except InputError as error:
        check_message(str(error), "scene.toml", None)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_bytes_build_or_are_refused(data, tmp_path):
    """A valid file with some bytes replaced, dropped or repeated."""
    raw = bytearray(tomli_w.dumps(SMALL).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(raw) - 1))
        raw[where : where + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    file = tmp_path / "scene.toml"
    file.write_bytes(bytes(raw))
    report = check_scene(file)  # raises nothing
    assert all(line.isprintable() for line in report.errors)


@pytest.mark.parametrize("kind", ["sphere", "plane", "box", "cylinder"])
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-9])
def test_absurdly_fine_obstacles_are_refused(kind, size):
    extent = {
        "sphere": {"radius": 0.1},
        "plane": {"width": 1.0, "height": 1.0},
        "box": {"extent": [1.0, 1.0, 1.0]},
        "cylinder": {"radius": 0.1, "height": 1.0},
    }
    tables = small() | {"obstacles": [{"shape": {"kind": kind, "size": size, **extent[kind]}}]}
    with pytest.raises(InputError, match="obstacles"):
        build(scene_from_tables(tables))
