"""Cross checks of a scene's tables: names that must be unique or exist, times that must fit together."""

from __future__ import annotations

from collections import Counter

from crumple.options.options import Options
from crumple.scenes.messages import Path, Problems, suggest
from crumple.scenes.schema.scene import Scene

MOST_STEPS = 1e6
"""Time steps within a frame; more are surely a wrong unit."""


def check_references(scene: Scene, problems: Problems) -> None:
    """Note duplicate names, names of things that do not exist, and times that contradict each other."""
    _check_unique(scene, problems)
    _check_motions(scene, problems)
    _check_sheets(scene, problems)
    _check_pairs(scene, problems)
    _check_times(scene, problems)
    _check_options(scene, problems)
    _check_tearing(scene, problems)


def _check_unique(scene: Scene, problems: Problems) -> None:
    parts = [(("sheets", k), name) for k, name in enumerate(scene.sheet_names)]
    parts += [(("obstacles", k), name) for k, name in enumerate(scene.obstacle_names)]
    handles = [(("handles", k), name) for k, name in enumerate(scene.handle_names)]
    attachments = [(("attachments", k), name) for k, name in enumerate(scene.attachment_names)]
    for group in (parts, handles, attachments):
        count = Counter(name for _, name in group)
        seen = set()
        for path, name in group:
            if name in seen:
                problems.add((*path, "name"), f"{count[name]} parts have this name; names must differ", name)
            seen.add(name)


def _check_motions(scene: Scene, problems: Problems) -> None:
    known = list(scene.motions)
    users: list[tuple[Path, str | None]] = []
    users += [(("handles", k, "motion"), handle.motion) for k, handle in enumerate(scene.handles)]
    users += [(("obstacles", k, "motion"), obstacle.motion) for k, obstacle in enumerate(scene.obstacles)]
    for path, motion in users:
        if motion is not None and motion not in scene.motions:
            problems.add(path, "no motion has this name" + suggest(motion, known), motion)


def _check_sheets(scene: Scene, problems: Problems) -> None:
    names = scene.sheet_names
    for k, handle in enumerate(scene.handles):
        if handle.sheet is None and len(names) > 1:
            problems.add(("handles", k, "sheet"), f"this key is missing; one of {', '.join(names[:10])}")
        if handle.sheet is not None and handle.sheet not in names:
            problems.add(("handles", k, "sheet"), "no sheet has this name" + suggest(handle.sheet, names), handle.sheet)
    for k, attachment in enumerate(scene.attachments):
        if attachment.sheets is None and len(names) > 1:
            problems.add(("attachments", k, "sheets"), f"this key is missing; two of {', '.join(names[:10])}")
        for end, name in enumerate(attachment.sheets or ()):
            if name not in names:
                problems.add(("attachments", k, "sheets", end), "no sheet has this name" + suggest(name, names), name)
    for k, sheet in enumerate(scene.sheets):
        if sheet.shape is None and sheet.history is None:
            problems.add(("sheets", k, "shape"), "this key is missing; a sheet needs a shape or a history")
        if sheet.shape is not None and sheet.history is not None:
            problems.add(("sheets", k, "history"), "give either shape or history, not both")
        for key in ("creases", "plastic_shape", "folded"):
            if sheet.history is not None and getattr(sheet, key):
                problems.add(("sheets", k, key), "does not go with history, which brings the folds of the sheet")
        if sheet.history is not None and sheet.maps:
            problems.add(("sheets", k, "maps"), "do not go with history, which brings the face groups of the sheet")
        if sheet.material is not None and sheet.materials is not None:
            problems.add(("sheets", k, "materials"), "give either material or materials, not both")
        if sheet.remeshing is not None and scene.remeshing is None:
            problems.add(("sheets", k, "remeshing"), "has no effect without the scene's table [remeshing]; add it")


def _check_pairs(scene: Scene, problems: Problems) -> None:
    names = [*scene.sheet_names, *scene.obstacle_names]
    for k, pair in enumerate(scene.contact.pairs):
        for end, name in enumerate(pair.parts):
            if name not in names:
                path = ("contact", "pairs", k, "parts", end)
                problems.add(path, "no sheet or obstacle has this name" + suggest(name, names), name)


def _check_times(scene: Scene, problems: Problems) -> None:
    spans: list[tuple[Path, float, float | None]] = []
    spans += [(("handles", k), handle.start, handle.end) for k, handle in enumerate(scene.handles)]
    spans += [(("attachments", k), attachment.start, attachment.end) for k, attachment in enumerate(scene.attachments)]
    spans += [(("obstacles", k), obstacle.start, obstacle.end) for k, obstacle in enumerate(scene.obstacles)]
    spans += [
        (("motions", name, "rate"), motion.rate.start, motion.rate.end)
        for name, motion in scene.motions.items()
        if motion.rate is not None
    ]
    for path, start, end in spans:
        if end is not None and end <= start:
            problems.add((*path, "end"), f"must be later than start = {start:g}, in s", end)
    solver, frame_time = scene.solver, scene.run.frame_time
    if solver.fixed_step is not None and solver.fixed_step > frame_time * (1 + 1e-9):
        problems.add(("solver", "fixed_step"), f"must be ≤ run.frame_time = {frame_time:g}, in s", solver.fixed_step)
    for key in ("fixed_step", "max_step"):
        step = getattr(solver, key)
        if step is not None and frame_time > MOST_STEPS * step:
            remedy = f"gives more than {MOST_STEPS:g} steps in run.frame_time = {frame_time:g}, in s"
            problems.add(("solver", key), remedy, step)


def _check_options(scene: Scene, problems: Problems) -> None:
    """Options must not contradict each other."""
    tables: list[tuple[Path, object]] = [((key,), getattr(scene, key)) for key in type(scene).model_fields]
    tables += [(("sheets", k, "remeshing"), sheet.remeshing) for k, sheet in enumerate(scene.sheets)]
    for path, table in tables:
        for key, remedy in table.conflicts() if isinstance(table, Options) else ():
            problems.add((*path, key), remedy, getattr(table, key))


def _check_tearing(scene: Scene, problems: Problems) -> None:
    """Weak lines are about tearing; tips cannot be finer than remeshing lets edges be."""
    for k, sheet in enumerate(scene.sheets):
        for c, line in enumerate(sheet.lines):
            path = ("sheets", k, "lines", c)
            if (line.line is None) == (line.label is None):
                problems.add(path, "must have either a line or a label")
            if scene.tearing is None:
                problems.note(path, "has no effect without the scene's table [tearing]")
    tip = None if scene.tearing is None else scene.tearing.tip_size
    if tip is not None and scene.remeshing is not None and tip < scene.remeshing.size_min:
        remedy = f"must be ≥ remeshing.size_min = {scene.remeshing.size_min:g}, in m; make that smaller"
        problems.add(("tearing", "tip_size"), remedy, tip)
