"""Blender add-on: runs a crumple scene beside Blender, and loads the result into the open scene.

It is one file, for Blender 4.2 and newer. `crumple blender` writes it, with the command of the environment that it is
written by. In Blender it is installed with Edit > Preferences > Add-ons > Install from Disk, and is then the tab
*Crumple* of the sidebar (N) of the 3D view. crumple runs in a process of its own, with its own Python: Blender needs
nothing more.
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
import threading
from pathlib import Path

import bpy

bl_info = {
    "name": "crumple",
    "author": "The crumple contributors",
    "version": (0, 2, 0),
    "blender": (4, 2, 0),
    "location": "3D View > Sidebar > Crumple",
    "description": "Simulates paper, foil and cloth that fold, crumple, crease and tear, and loads the result",
    "category": "Physics",
}

COMMAND = ["crumple"]
SUFFIXES = {"USD": ".usdc", "ALEMBIC": ".abc", "GLTF": ".glb"}
POLL = 0.2
"""Seconds between two looks at a job."""
FRAME = re.compile(r"frame (\d+)/(\d+)")


class Job:
    """Commands of crumple that run one after the other beside Blender; what they are at can be asked at any time.

    `fraction` of the frames that are done, `line` last printed, `error`: why it failed, "" unless it did;
    `is_done`: nothing more will happen.
    """

    def __init__(self, command: list[str], recording: Path, file: Path, run: list[str] | None) -> None:
        """`run`: scene and options of a run into the folder `recording`, None: it is there; then exported to `file`."""
        self.recording, self.file = recording, file
        self.fraction, self.line, self.error, self.rate = 0.0, "starting", "", 0.0
        self.is_done = self.is_cancelled = False
        self._command, self._run = command, run
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._work, name="crumple", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """End what runs; frames that are recorded stay."""
        self.is_cancelled = True
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def join(self, seconds: float) -> None:
        """Wait for the end, at most so long."""
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            if self._run is not None:
                self._call("run", *self._run, "--out", str(self.recording))
            self.line = "exporting"
            info = json.loads(self._call("info", str(self.recording), "--json"))
            if info["time"] > 0.0:
                self.rate = (info["frames"] - 1) / info["time"]
            self._call("export", str(self.recording), "-o", str(self.file))
            self.line = "loading"
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            self.error = "cancelled" if self.is_cancelled else str(error)
        self.is_done = True

    def _call(self, *arguments: str) -> str:
        """What a command of crumple prints; its last line is the error where it fails."""
        if self.is_cancelled:
            raise RuntimeError("cancelled")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
        environment |= {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", "COLUMNS": "400"}
        self._process = subprocess.Popen(
            [*self._command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        if self.is_cancelled:  # meanwhile
            self._process.terminate()
        lines = []
        assert self._process.stdout is not None
        for line in self._process.stdout:
            lines.append(line)
            self._note(line.strip())
        if self._process.wait():
            said = [line.strip() for line in lines if line.strip()]
            raise RuntimeError(
                said[-1].removeprefix("crumple: ")
                if said
                else f"crumple {arguments[0]} ended with {self._process.returncode}"
            )
        return "".join(lines)

    def _note(self, line: str) -> None:
        if found := FRAME.match(line):
            self.fraction = int(found[1]) / int(found[2])
        if line and not line.startswith("{"):
            self.line = line


_job: Job | None = None


def start(settings: "CrumpleSettings", recording: Path, run: list[str] | None) -> None:
    """Begin a job whose result is loaded when it is done."""
    global _job
    suffix = SUFFIXES[settings.format]
    _job = Job(_command(), recording, recording.with_name(recording.name + suffix), run)
    settings.message, settings.is_error = "", False
    bpy.app.timers.register(poll, first_interval=POLL)


def poll() -> float | None:
    """Show what the job is at; load its result when it is done. Blender calls it every now and then."""
    global _job
    if _job is None:
        return None
    _redraw()
    if not _job.is_done:
        return POLL
    job, _job = _job, None
    settings = bpy.context.scene.crumple
    try:
        if job.error:
            raise RuntimeError(job.error)
        count = load(job.file, job.rate if settings.use_rate else 0.0)
        settings.message = f"loaded {count} objects from {job.recording.name}"
    except RuntimeError as error:  # operators of Blender raise it, too
        settings.message, settings.is_error = str(error), True
        print(f"crumple: {error}")
    settings.recording = str(job.recording)
    _redraw()
    return None


def load(file: Path, rate: float) -> int:
    """Import the file into a collection of its own; `rate` [frames/s] is given to the scene unless it is 0."""
    scene = bpy.context.scene
    if rate > 0.0:
        scene.render.fps = max(1, round(rate))
        scene.render.fps_base = scene.render.fps / rate
    before = set(bpy.data.objects)
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(**({"window": windows[0]} if windows else {})):
        if file.suffix == ".abc":
            bpy.ops.wm.alembic_import(filepath=str(file), set_frame_range=True)
        elif file.suffix == ".glb":
            bpy.ops.import_scene.gltf(filepath=str(file))
        else:
            bpy.ops.wm.usd_import(filepath=str(file), set_frame_range=True)
    new = [one for one in bpy.data.objects if one not in before]
    if not new:
        raise RuntimeError(f"{file} holds nothing that Blender reads")
    collection = bpy.data.collections.new(file.stem)
    scene.collection.children.link(collection)
    for one in new:
        for old in list(one.users_collection):
            old.objects.unlink(one)
        collection.objects.link(one)
    return len(new)


def _command() -> list[str]:
    """The command of crumple: what the preferences say, or what was there when this file was written."""
    addon = bpy.context.preferences.addons.get(__name__)
    typed = addon.preferences.command.strip() if addon else ""
    return shlex.split(typed) if typed else COMMAND


def _new_folder(settings: "CrumpleSettings") -> Path:
    """A folder for a recording that is not there yet."""
    chosen = bpy.path.abspath(settings.folder) if settings.folder else ""
    parent = Path(chosen) if chosen else Path(tempfile.mkdtemp(prefix="crumple-"))  # which is nobody else's
    parent.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w-]+", "-", Path(settings.scene).stem) or "scene"
    number = 1
    while (path := parent / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return path


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


class CrumpleSettings(bpy.types.PropertyGroup):
    """What the panel holds; saved with the blend file."""

    scene: bpy.props.StringProperty(
        name="Scene",
        default="ball",
        description="Built-in scene (crumple scenes lists them), TOML file or crease pattern",
    )
    file: bpy.props.StringProperty(
        name="File",
        subtype="FILE_PATH",
        description="Scene (TOML) or crease pattern (FOLD, SVG); used instead of the name",
    )
    quick: bpy.props.BoolProperty(name="Quick", default=True, description="The scene's coarse and short variant")
    frames: bpy.props.IntProperty(name="Frames", default=0, min=0, description="Stop at this frame; 0: the scene's own")
    changes: bpy.props.StringProperty(
        name="Changes", description="Values of the scene, such as  sheets[0].material=foil run.frames=20"
    )
    folder: bpy.props.StringProperty(
        name="Folder", subtype="DIR_PATH", description="Where recordings go; empty: the folder for temporary files"
    )
    format: bpy.props.EnumProperty(
        name="Format",
        items=[
            ("USD", "USD", "The mesh changes from frame to frame; needs crumple[usd]"),
            ("ALEMBIC", "Alembic", "The mesh changes from frame to frame; needs crumple[alembic]"),
            ("GLTF", "glTF", "One mesh with a shape key for each frame; needs nothing more"),
        ],
    )
    use_rate: bpy.props.BoolProperty(
        name="Frame rate of the recording", default=True, description="Give the scene the frame rate of the recording"
    )
    recording: bpy.props.StringProperty(name="Recording", subtype="DIR_PATH", description="A recording of crumple")
    message: bpy.props.StringProperty()
    is_error: bpy.props.BoolProperty()


class CRUMPLE_OT_run(bpy.types.Operator):  # noqa: N801 (Blender's names)
    """Simulate the scene beside Blender, then load the result"""

    bl_idname, bl_label = "crumple.run", "Run"

    @classmethod
    def poll(cls, context):
        return _job is None

    def execute(self, context):
        settings = context.scene.crumple
        name = bpy.path.abspath(settings.file) if settings.file else settings.scene.strip()
        try:
            changes = shlex.split(settings.changes)
        except ValueError as error:
            self.report({"ERROR"}, f"Changes: {error}")
            return {"CANCELLED"}
        run = [name, *(["--quick"] if settings.quick else [])]
        run += ["--frames", str(settings.frames)] if settings.frames else []
        start(settings, _new_folder(settings), run + [part for change in changes for part in ("--set", change)])
        return {"FINISHED"}


class CRUMPLE_OT_load(bpy.types.Operator):  # noqa: N801
    """Load a recording that is there already"""

    bl_idname, bl_label = "crumple.load", "Load"

    @classmethod
    def poll(cls, context):
        return _job is None and bool(context.scene.crumple.recording)

    def execute(self, context):
        start(context.scene.crumple, Path(bpy.path.abspath(context.scene.crumple.recording)), None)
        return {"FINISHED"}


class CRUMPLE_OT_cancel(bpy.types.Operator):  # noqa: N801
    """End the run; the frames that are recorded stay, and can be loaded"""

    bl_idname, bl_label = "crumple.cancel", "Cancel"

    @classmethod
    def poll(cls, context):
        return _job is not None

    def execute(self, context):
        assert _job is not None
        _job.cancel()
        return {"FINISHED"}


class CRUMPLE_PT_panel(bpy.types.Panel):  # noqa: N801
    """The tab in the sidebar."""

    bl_label, bl_category = "Crumple", "Crumple"
    bl_space_type, bl_region_type = "VIEW_3D", "UI"

    def draw(self, context):
        settings, layout = context.scene.crumple, self.layout
        column = layout.column()
        column.enabled = _job is None
        for name in ("scene", "file", "quick", "frames", "changes", "folder", "format", "use_rate"):
            column.prop(settings, name)
        if _job is None:
            layout.operator("crumple.run", icon="PLAY")
            row = layout.row()
            row.prop(settings, "recording")
            row.operator("crumple.load", icon="IMPORT")
        else:
            layout.progress(factor=_job.fraction, text=f"{100 * _job.fraction:.0f} %")
            layout.label(text=_job.line)
            layout.operator("crumple.cancel", icon="X")
        if settings.message:
            box = layout.box()
            box.alert = settings.is_error
            for line in re.findall(r".{1,60}(?:\s|$)|\S{60}", settings.message):
                box.label(text=line)


class CrumplePreferences(bpy.types.AddonPreferences):
    """Which crumple is run."""

    bl_idname = __name__
    command: bpy.props.StringProperty(
        name="Command", description="Command of crumple; empty: that of the environment which wrote this add-on"
    )

    def draw(self, context):
        self.layout.prop(self, "command")
        self.layout.label(text=f"empty: {shlex.join(COMMAND)}")


CLASSES = (CrumpleSettings, CrumplePreferences, CRUMPLE_OT_run, CRUMPLE_OT_load, CRUMPLE_OT_cancel, CRUMPLE_PT_panel)


def register() -> None:
    """Called by Blender when the add-on is switched on."""
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Scene.crumple = bpy.props.PointerProperty(type=CrumpleSettings)


def unregister() -> None:
    """Called by Blender when the add-on is switched off: ends what runs."""
    global _job
    if _job is not None:
        _job.cancel()
        _job = None
    del bpy.types.Scene.crumple
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
