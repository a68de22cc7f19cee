"""Scene files: loading, overrides, quick variants, resolved dumps, and messages."""

import tomllib

import pytest
from scene_tables import rich, small

from crumple.runtime.errors import InputError
from crumple.scenes import SceneError, builtin_scenes, dump_scene, load_scene, scene_from_tables
from crumple.scenes.overrides import parse_override, parse_path

NAMES = [
    "airplane",
    "ball",
    "crumple",
    "cylinder",
    "demo",
    "drape",
    "drape-fixed",
    "drop",
    "flag",
    "fold",
    "letter",
    "moebius",
    "squeeze",
    "stuff",
    "tshirt",
    "twist",
]


def problem(tables, overrides=(), **options) -> str:
    with pytest.raises(InputError) as caught:
        scene_from_tables(tables, source="scene.toml", overrides=overrides, **options)
    return str(caught.value)


def test_builtin_scenes_are_there_and_described():
    scenes = builtin_scenes()
    assert set(NAMES) <= set(scenes)
    assert all(len(text) > 40 for text in scenes.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quick", [False, True])
def test_resolved_scene_loads_back_to_the_same(name, quick, tmp_path):
    scene = load_scene(name, quick=quick)
    file = tmp_path / "scene.toml"
    file.write_text(dump_scene(scene), "utf-8")
    again = load_scene(file)
    assert again.tables() == scene.tables()
    assert dump_scene(again) == dump_scene(scene)
    assert "quick" not in tomllib.loads(dump_scene(scene))


def test_rich_scene_round_trip_and_defaults(tmp_path):
    scene = scene_from_tables(rich())
    file = tmp_path / "scene.toml"
    file.write_text(dump_scene(scene), "utf-8")
    assert load_scene(file).tables() == scene.tables()
    assert scene_from_tables(small()).environment.gravity == (0.0, 0.0, -9.81)


def test_files_are_found_beside_the_scene_and_made_absolute(tmp_path):
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes" / "sheet.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    scene = tmp_path / "s.toml"
    scene.write_text('[[sheets]]\nmaterial = "paper80"\nshape = { kind = "file", mesh = "meshes/sheet.obj" }\n')
    assert load_scene(scene).sheets[0].shape.mesh == str(mesh)


def test_material_by_name_is_a_table_that_overrides_can_enter():
    scene = load_scene("demo", ["sheets[0].material.thickness=2e-4", "sheets[0].name=sail", "run={duration=3}"])
    assert scene.sheets[0].material.preset == "paper80"
    assert scene.sheets[0].material.thickness == 2e-4
    assert scene.sheets[0].name == "sail"
    assert scene.run.duration == 3.0
    assert load_scene("demo", ["sheets[0].material=mylar"]).sheets[0].material.preset == "mylar"


def test_overrides_come_after_quick():
    full, quick = load_scene("demo"), load_scene("demo", quick=True)
    assert quick.sheets[0].shape.size > full.sheets[0].shape.size
    assert load_scene("demo", ["sheets[0].shape.size=0.007"], quick=True).sheets[0].shape.size == 0.007


def test_overrides_leave_the_callers_tables_alone():
    tables = small()
    scene_from_tables(tables, overrides=["run.duration=9", "sheets[0].name=x"])
    assert tables == small()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("sheets[0].material.thickness=-3", "--set: sheets[0].material.thickness = -3 (must be ≥ 1e-09, in m)"),
        ("sheets[0].materail.thickness=1", "--set: sheets[0].materail: unknown key; did you mean 'material'?"),
        ("sheets[4].name=x", "--set: sheets[4]: there is no such entry, the list has 1"),
        ("handles[0].name=x", "--set: handles[0]: there is no such entry, the list is empty"),
        ("sheets.name=x", "--set: sheets.name: the key above is not a table"),
        ("name.x=1", "--set: name.x: unknown"),
        ("name[0]=1", "--set: name[0]: the key before the brackets is not a list"),
        ("name", "--set = 'name' (must have the form key=value)"),
        ("=1", "--set = '' (must be a key path"),
        ("[0]=1", "--set = '[0]' (must be a key path"),
        ("a..b=1", "--set = 'a..b' (must be a key path"),
        ("run.duration=[1", "--set run.duration = '[1' (the value is not TOML"),
        ("run.duration=1\nname = 2", "--set run.duration = '1\\nname = 2' (must be a single value)"),
        ("run.duration=nan", "--set: run.duration = nan (must be > 0"),
        ("run.duration=", "--set run.duration = '' (the value is not TOML"),
    ],
)
def test_bad_overrides_say_what_is_wrong(override, message):
    found = problem(small(), [override])
    if override == "name.x=1":  # the name becomes a table, which is no name
        message = "--set: name = {"
    assert found.startswith(message)
    assert "\n" not in found


def test_override_values_are_toml_and_bare_words_texts():
    assert parse_override("a.b[2]=[1, 2.5]") == (("a", "b", 2), [1, 2.5])
    assert parse_override("a=meshes/x.obj")[1] == "meshes/x.obj"
    assert parse_override('a="x y"')[1] == "x y"
    assert parse_override("a=true")[1] is True
    assert parse_override("a=1e-3")[1] == 1e-3
    assert parse_override("a={b=1}")[1] == {"b": 1}
    assert parse_path("motions.go.keys[1].time") == ("motions", "go", "keys", 1, "time")


def test_all_problems_at_once_in_the_documented_form():
    tables = rich()
    tables["sheets"][0]["material"]["thickness"] = -3
    tables["obstacles"][0]["shape"]["radius"] = "big"
    tables["handles"][0]["select"] = {"kind": "sid"}
    tables["motions"]["lift"]["keys"][1]["tiem"] = 1
    tables["contact"]["frictoin"] = 1
    with pytest.raises(SceneError) as caught:
        scene_from_tables(tables, source="scene.toml")
    assert set(caught.value.problems) == {
        "scene.toml: sheets[0].material.thickness = -3 (must be ≥ 1e-09, in m)",
        "scene.toml: obstacles[0].shape.radius = 'big' (must be > 0 and ≤ 10000, in m; this is not a number)",
        "scene.toml: handles[0].select.kind = 'sid' (unknown kind; did you mean 'side'?)",
        "scene.toml: motions.lift.keys[1].tiem: unknown key; did you mean 'time'?",
        "scene.toml: contact.frictoin: unknown key; did you mean 'friction'?",
    }


def test_syntax_errors_have_line_numbers(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text('name = "x"\n\n[run]\nduration = = 3\n')
    with pytest.raises(InputError, match=r"bad\.toml: line 4, column 12: Invalid value"):
        load_scene(file)


def test_unknown_scene_suggests_a_builtin_one():
    with pytest.raises(InputError, match="did you mean 'drape'"):
        load_scene("drap")


def test_windows_line_ends_and_byte_order_mark(tmp_path):
    file = tmp_path / "s.toml"
    text = 'name = "x"\r\n[[sheets]]\r\nmaterial = "paper80"\r\n'
    shape = 'shape = { kind = "disk", radius = 0.1, size = 0.05 }\r\n'
    file.write_bytes(b"\xef\xbb\xbf" + (text + shape).encode())
    assert load_scene(file).name == "x"


def test_quick_must_be_a_table_of_paths():
    tables = small()
    tables["quick"] = 3
    assert "quick" in problem(tables, quick=True)
    tables["quick"] = {"a..b": 3}
    assert "quick" in problem(tables, quick=True)
