"""Bad ARCSim files: one line that names file, key and remedy."""

from functools import reduce

import pytest
from arcsim_files import scene, write

from crumple.runtime.errors import InputError
from crumple.scenes import build, check_scene, load_scene

TEXTS = {
    "empty": ("", "line 1"),
    "not-json": ("frame_time = 3\n", "line 1"),
    "broken": ('{"frame_time": 0.04,\n "cloths": [}\n', "line 2"),
    "list": ("[1, 2]", "cloths"),
    "number": ("3", "cloths"),
    "material": ('{"density": 1}', "cloths"),
    "deep": ("[" * 100_000, "deeply"),
    "open-comment": ('{"cloths": 3 /* ', "line 1"),
    "open-string": ('{"cloths: 3}', "line 1"),
    "digits": ('{"frame_time": ' + "9" * 5000 + "}", "scene.json"),
}

CHANGES = {
    "cloths-empty": ("cloths", [], "cloths"),
    "cloths-number": ("cloths", 3, "cloths"),
    "cloth-number": ("cloths.0", 3, "cloths[0]"),
    "mesh-missing": ("cloths.0.mesh", "meshes/none.obj", "cloths[0].mesh"),
    "mesh-number": ("cloths.0.mesh", 7, "cloths[0].mesh"),
    "mesh-control": ("cloths.0.mesh", "a\nb", "cloths[0].mesh"),
    "materials-empty": ("cloths.0.materials", [], "cloths[0].materials"),
    "material-empty": ("cloths.0.materials.0", {}, "cloths[0].materials[0]"),
    "thicken-text": ("cloths.0.materials.0.thicken", "2", "cloths[0].materials[0].thicken"),
    "thicken-zero": ("cloths.0.materials.0.thicken", 0, "factor"),
    "translate": ("cloths.0.transform.translate", [0, 0], "cloths[0].transform.translate"),
    "rotate": ("cloths.0.transform.rotate", [30, 0, 0, 0], "cloths[0].transform.rotate"),
    "scale-zero": ("cloths.0.transform.scale", 0, "transform.scale"),
    "size-order": ("cloths.0.remeshing.size", [0.2, 0.1], "cloths[0].remeshing.size"),
    "size-missing": ("cloths.0.remeshing", {"refine_angle": 1}, "cloths[0].remeshing.size"),
    "frame-time": ("frame_time", 0, "frame_time"),
    "frame-time-huge": ("frame_time", 10**400, "frame_time"),
    "frame-steps": ("frame_steps", 0, "frame_steps"),
    "end-time": ("end_time", -1, "duration"),
    "motions-flat": ("motions", [{"time": 0}], "motions"),
    "motion-time": ("motions.0.0", {"transform": {}}, "motions[0][0].time"),
    "motion-order": ("motions.0.0.time", 1.5, "motion0"),
    "motion-index": ("obstacles.0.motion", 1, "obstacles[0].motion"),
    "motfile": ("motions", {"motfile": "none.mot", "fps": 2}, "motions.motfile"),
    "handle-none": ("handles.0", {}, "handles[0]"),
    "handle-both": ("handles.0.label", 3, "handles[0]"),
    "handle-node": ("handles.0.nodes", [77], "handles[0]"),
    "handle-cloth": ("handles.0.cloth", 1, "handles[0].cloth"),
    "handle-label": ("handles.1.label", 9, "handles[1]"),
    "glue-odd": ("handles.0", {"type": "glue", "nodes": [0, 1, 2]}, "handles[0].nodes"),
    "glue-itself": ("handles.0", {"type": "glue", "nodes": [0, 0]}, "attachments[0]"),
    "glue-node": ("handles.0", {"type": "glue", "nodes": [0, 77]}, "attachments[0]"),
    "glue-label": ("handles.0", {"type": "glue", "labels": [1, 9]}, "attachments[0]: second"),
    "glue-labels": ("handles.0", {"type": "glue", "labels": [1, 1.5]}, "handles[0].labels"),
    "glue-cloths": ("handles.0", {"type": "glue", "nodes": [0, 1], "cloths": [0, 1]}, "handles[0].cloths"),
    "soft-stiffness": ("handles.0.stiffness", 0, "handles[0].stiffness"),
    "handlebars": ("handlebars", [], "handlebars"),
    "stitches": ("cloths.0.stitches", [], "cloths[0].stitches"),
    "velocity-turn": ("cloths.0.velocity", {"angular": [0, 0, 1]}, "cloths[0].velocity.angular"),
    "handle-type": ("handles.0.type", "nodes", "did you mean 'node'"),
    "handle-end": ("handles.0.end_time", 0, "handles[0].end"),
    "circle": ("handles.1.type", "circle", "handles[1].circumference"),
    "obstacle-mesh": ("obstacles.0", {}, "obstacles[0].mesh"),
    "obstacle-pattern": ("obstacles", "meshes/x%d%d.obj", "obstacles"),
    "obstacle-none": ("obstacles", "meshes/x%d.obj", "obstacles"),
    "physics": ("disable", ["physics"], "disable"),
    "disable-number": ("disable", [3], "disable"),
    "wind": ("wind", [1, 0, 0], "wind"),
    "gravity-nan": ("gravity", [0, 0, float("nan")], "gravity"),
    "gravity-inf": ("gravity", [0, 0, float("inf")], "gravity"),
    "magic": ("magic.repulsion_thickness", 0, "magic.repulsion_thickness"),
    "jitter": ("magic.add_jitter", "yes", "magic.add_jitter"),
}

POSITION, ORIENTATION = "body[0] position\n0 0 0\n", "body[0] orientation\n1 0 0 0\n"
MOTION_FILES = {
    "empty": "",
    "blank": "\n\n",
    "words": "one motion",
    "no-frames": "NumFrames: 0\n" + POSITION + ORIENTATION,
    "negative": "NumFrames: -1\n" + POSITION + ORIENTATION,
    "fraction": "NumFrames: 1.5\n" + POSITION + ORIENTATION,
    "huge": "NumFrames: 99999999999999999999\n" + POSITION + ORIENTATION,
    "no-bodies": "NumFrames: 1\n",
    "no-orientation": "NumFrames: 1\n" + POSITION,
    "row-first": "NumFrames: 1\n0 0 0\n" + POSITION + ORIENTATION,
    "short": "NumFrames: 2\n" + POSITION + ORIENTATION,
    "long": "NumFrames: 1\n" + POSITION + "0 0 0\n" + ORIENTATION,
    "twice": "NumFrames: 1\n" + POSITION + POSITION + ORIENTATION,
    "gap": "NumFrames: 1\n" + (POSITION + ORIENTATION).replace("[0]", "[1]"),
    "columns": "NumFrames: 1\n" + POSITION + "body[0] orientation\n1 0 0\n",
    "not-unit": "NumFrames: 1\n" + POSITION + "body[0] orientation\n3 0 0 0\n",
    "infinite": "NumFrames: 1\nbody[0] position\ninf 0 0\n" + ORIENTATION,
    "section": "NumFrames: 1\nbody[0] place\n0 0 0\n" + ORIENTATION,
}


def refused(path):
    """The one line that building a scene gives."""
    with pytest.raises(InputError) as caught:
        build(path)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 1000
    assert check_scene(path).errors
    return text


@pytest.mark.parametrize("case", TEXTS)
def test_text(tmp_path, case):
    text, named = TEXTS[case]
    message = refused(write(tmp_path, text))
    assert named in message
    assert "scene.json" in message


@pytest.mark.parametrize("case", CHANGES)
def test_value(tmp_path, case):
    where, value, named = CHANGES[case]
    record = scene()
    *above, last = [int(step) if step.isdigit() else step for step in where.split(".")]
    reduce(lambda below, step: below[step], above, record)[last] = value
    assert named in refused(write(tmp_path, record))


@pytest.mark.parametrize("case", MOTION_FILES)
def test_motion_file(tmp_path, case):
    path = write(tmp_path, scene() | {"motions": {"motfile": "body.mot", "fps": 2}})
    (tmp_path / "body.mot").write_text(MOTION_FILES[case])
    assert "body.mot" in refused(path)


def test_not_utf8(tmp_path):
    path = write(tmp_path, "{}")
    path.write_bytes(b'{"a": "\xff"}')
    assert "UTF-8" in refused(path)


def test_remeshing_is_given_for_all_cloths_or_none(tmp_path):
    record = scene()
    record["cloths"].append(scene()["cloths"][0])
    del record["cloths"][1]["remeshing"]
    assert "cloths[1].remeshing" in refused(write(tmp_path, record))
    record["disable"] = ["remeshing"]
    load_scene(write(tmp_path, record))


def paths(value, path=()):
    """The path of everything below a JSON value."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in below:
        yield (*path, key)
        yield from paths(one, (*path, key))


ODD = (None, True, -1, 0, 10**400, 1e308, float("nan"), float("inf"), "", "%d", "\x00", [], [[]], {}, {"a": {}})


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
def test_odd_values_load_or_are_refused_in_one_line(tmp_path, value):
    refusals = []
    for path in list(paths(scene())):
        record = scene()
        *above, last = path
        reduce(lambda below, step: below[step], above, record)[last] = value
        try:
            load_scene(write(tmp_path, record))
        except InputError as error:
            refusals.append(str(error))
    assert len(refusals) > 10
    assert all("scene.json" in text and "\n" not in text for text in refusals)
