"""Opens an exported file in Blender's Python module and renders it from above. Runs in a process of its own.

blender_script.py FILE OUTPUT RATE X Y SPAN SECONDS...
"""

from __future__ import annotations

import sys

import bpy


def open_file(path: str, rate: int) -> None:
    """The file in an empty scene of `rate` frames per second."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = rate
    if path.endswith(".abc"):
        bpy.ops.wm.alembic_import(filepath=path)
    elif path.endswith(".glb"):
        bpy.ops.import_scene.gltf(filepath=path)
    else:
        bpy.ops.wm.usd_import(filepath=path)


def set_stage(x: float, y: float, span: float) -> None:
    """A camera that looks down on a square of `span` metres around (x, y), and even light from everywhere."""
    scene = bpy.context.scene
    camera = bpy.data.cameras.new("camera")
    camera.type, camera.ortho_scale, camera.clip_end = "ORTHO", span, 100.0
    scene.camera = bpy.data.objects.new("camera", camera)
    scene.camera.location = (x, y, 2.0)
    scene.collection.objects.link(scene.camera)
    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (1.0, 1.0, 1.0, 1.0)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 8, False
    scene.render.resolution_x = scene.render.resolution_y = 256
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"


def main() -> None:
    path, output, rate, x, y, span, *seconds = sys.argv[1:]
    open_file(path, int(rate))
    set_stage(float(x), float(y), float(span))
    scene = bpy.context.scene
    for number, second in enumerate(seconds):
        scene.frame_set(round(float(second) * int(rate)))
        scene.render.filepath = f"{output}{number}.png"
        bpy.ops.render.render(write_still=True)


main()
