"""Uses the add-on inside Blender's Python module as its buttons would; prints what it found as JSON.

blender_addon_script.py ADDON FOLDER FORMAT
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time

import bpy

addon_path, folder, kind = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
spec = importlib.util.spec_from_file_location("crumple_blender", addon_path)
addon = importlib.util.module_from_spec(spec)
sys.modules["crumple_blender"] = addon
spec.loader.exec_module(addon)
addon.register()
settings = bpy.context.scene.crumple
settings.folder, settings.format = folder, kind


def finish() -> list[str]:
    """Poll as Blender's timer does (a module without a window has no timers); the lines that were shown."""
    shown, start = [], time.monotonic()
    assert not bpy.ops.crumple.run.poll(), "two runs at a time"
    while addon.poll() is not None:
        if addon._job and addon._job.line not in shown:
            shown.append(addon._job.line)
        assert time.monotonic() - start < 500.0
        time.sleep(0.02)
    return shown


def node_heights(frame: int) -> list[float]:
    """Lowest and highest point of what was loaded, in a frame."""
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    heights = []
    for one in bpy.data.objects:
        if one.type == "MESH" and one.name.startswith("tissue"):
            seen = one.evaluated_get(graph)
            heights += [(seen.matrix_world @ vertex.co).z for vertex in seen.data.vertices]
    return [min(heights), max(heights)]


found = {}
settings.scene, settings.quick, settings.frames = "drape-fixed", True, 3
assert bpy.ops.crumple.run() == {"FINISHED"}
found["shown"] = finish()
found["message"], found["error"] = settings.message, settings.is_error
found["collections"] = [one.name for one in bpy.context.scene.collection.children]
found["objects"] = sorted(one.name for one in bpy.data.objects)
if not settings.is_error:
    found["rate"] = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    found["end"] = bpy.context.scene.frame_end
    found["first"], found["last"] = node_heights(0), node_heights(3)
assert bpy.ops.crumple.load() == {"FINISHED"}
finish()
found["again"] = settings.message
settings.scene = "no-such-scene"
bpy.ops.crumple.run()
finish()
found["wrong"], found["wrong_is_error"] = settings.message, settings.is_error
settings.scene = "drape-fixed"
bpy.ops.crumple.run()
assert bpy.ops.crumple.cancel() == {"FINISHED"}
finish()
found["cancelled"] = settings.message
addon.unregister()
print(json.dumps(found), flush=True)
os._exit(0)  # without what Blender tidies up at its end
