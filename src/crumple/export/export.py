"""A recording as files for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crumple.export.clip import Clip, Progress, choose_frames
from crumple.export.convert import point_data, to_pyvista
from crumple.export.mesh_files import encode_material, encode_obj, encode_ply, encode_stl
from crumple.export.surface import Snapshot
from crumple.recording.files import read_file, staged, staged_together, write_output
from crumple.recording.recording import Recording, write_series
from crumple.recording.vtkhdf import HdfImage, put_surface
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package
from crumple.runtime.reading import MOST_BYTES

WriteClip = Callable[[Clip, Path, Path | None], None]
"""Writes all frames to a path, with the picture to lay on the sheets, if there is one."""
WriteFrame = Callable[[Snapshot, Path, Clip, Path | None], None]
"""Writes one frame of a clip to a path; the last is the file that describes the picture, if there is one."""


@dataclass(frozen=True)
class Format:
    """A kind of file, by the endings that its name may have, the usual one first, and what writes one that ends so: all
    frames into one file (`animated`) or each into its own (`frames`).

    `needs`: the optional package that a file of an ending needs;  `textured`: it takes a picture, which `embeds` says
    is put into the file;  `constant`: all frames on one mesh unless told otherwise, `changing`: never;  `last_only`:
    the last frame unless told otherwise.
    """

    suffixes: tuple[str, ...]
    animated: WriteClip | None = None
    frames: Mapping[str, WriteFrame] = field(default_factory=dict)
    needs: Mapping[str, str] = field(default_factory=dict)
    textured: bool = False
    embeds: bool = False
    constant: bool = False
    changing: bool = False
    last_only: bool = False


def _write_usd(clip: Clip, path: Path, picture: Path | None) -> None:
    from crumple.export.usd import write_usd

    write_usd(clip, path, f"./{picture.name}" if picture else None)


def _write_gltf(clip: Clip, path: Path, picture: Path | None) -> None:
    from crumple.export.gltf import write_gltf

    write_gltf(clip, path, picture)


def _write_abc(clip: Clip, path: Path, picture: Path | None) -> None:
    from crumple.export.alembic import write_alembic

    write_alembic(clip, path)


def _write_fold(clip: Clip, path: Path, picture: Path | None) -> None:
    from crumple.export.fold import write_fold_clip

    write_fold_clip(clip, path)


def _write_obj(snapshot: Snapshot, path: Path, clip: Clip, material: Path | None) -> None:
    content = encode_obj(snapshot.surface, clip.sheet_names, material.name if material else None)
    write_output(path, content)


def _write_ply(snapshot: Snapshot, path: Path, clip: Clip, material: Path | None) -> None:
    write_output(path, encode_ply(snapshot.surface))


def _write_stl(snapshot: Snapshot, path: Path, clip: Clip, material: Path | None) -> None:
    write_output(path, encode_stl(snapshot.surface))


def _write_vtp(snapshot: Snapshot, path: Path, clip: Clip, material: Path | None) -> None:
    """Made in memory as text: on a full disk VTK's own writing corrupts the memory of the process."""
    from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

    data = to_pyvista(snapshot.surface)
    data.field_data["TimeValue"] = [snapshot.time]
    writer = vtkXMLPolyDataWriter()
    writer.SetInputData(data)
    writer.SetDataModeToBinary()
    writer.WriteToOutputStringOn()
    writer.Write()
    write_output(path, writer.GetOutputString().encode())


def _write_vtkhdf(snapshot: Snapshot, path: Path, clip: Clip, material: Path | None) -> None:
    surface, image = snapshot.surface, HdfImage()
    put_surface(
        image,
        surface.vertex_x,
        surface.mesh.faces,
        point_data=point_data(surface),
        cell_data=surface.face_data,
        field_data={"TimeValue": np.array([snapshot.time])},
    )
    image.group("VTKHDF/PointData")["texture"].attrs["Attribute"] = np.bytes_("TCoords")
    write_output(path, image.close())


FORMATS = {
    "usd": Format(
        (".usdc", ".usd", ".usda"), _write_usd, textured=True,
        needs=dict.fromkeys((".usdc", ".usd", ".usda"), "pxr.Usd"),
    ),
    "gltf": Format((".glb",), _write_gltf, textured=True, embeds=True, constant=True),
    "abc": Format((".abc",), _write_abc, needs={".abc": "alembic3d"}),
    "obj": Format((".obj",), frames={".obj": _write_obj}, textured=True),
    "ply": Format((".ply",), frames={".ply": _write_ply}),
    "stl": Format((".stl",), frames={".stl": _write_stl}, last_only=True),
    "vtk": Format(
        (".vtp", ".vtkhdf"), frames={".vtp": _write_vtp, ".vtkhdf": _write_vtkhdf}, needs={".vtp": "pyvista"}
    ),
    "fold": Format((".fold",), _write_fold, changing=True),
}  # fmt: skip
"""The formats by name. A new one is a line here, and its writer."""

TOPOLOGIES = ("constant", "changing")


def export_recording(
    recording: Recording,
    to: str | None = None,
    output: str | Path | None = None,
    *,
    frames: str | None = None,
    topology: str | None = None,
    obstacles: bool = True,
    texture: str | Path | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write frames of a recording for another program; gives the paths of the files.

    `to`: "usd", "gltf", "abc", "obj", "ply", "stl", "vtk" or "fold"; by default what the ending of `output` says.
    `output`: by default beside the recording. Formats that hold one frame get the number of the frame in the name,
    unless one frame was asked for by its number.
    `frames`: "12", "-1" or "first:last:step", all by default (STL: the last).
    `topology`: "changing" writes each frame's own mesh; "constant" resamples all onto the mesh of the finest frame
    (default for glTF).
    `obstacles`: whether the formats that hold a scene (USD, glTF, Alembic) get them too.
    `texture`: a picture to lay on the sheets (USD, glTF, OBJ).
    """
    name, kind = _find_format(to, output)
    if topology is not None and topology not in TOPOLOGIES:
        raise InputError("export --topology", f"must be {' or '.join(TOPOLOGIES)}", topology)
    picture = _check_texture(texture, name, kind)
    path = _check_output(recording, output, kind)
    suffix = path.suffix.lower()
    if suffix in kind.needs:
        load_package(kind.needs[suffix], f"export --to {name}")  # `InputError` before any work when it is missing
    if kind.changing and topology == "constant":
        remedy = f"a {name.upper()} file has the mesh of each frame; leave this out"
        raise InputError("export --topology", remedy, topology)
    constant = kind.constant if topology is None else topology == "constant"
    chosen = "-1" if frames is None and kind.last_only else frames
    clip = choose_frames(
        recording, chosen, constant=constant, with_obstacles=obstacles and kind.animated is not None, progress=progress
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind.animated is not None:
        written = [_write_animated(kind.animated, clip, path, picture)]
    else:
        numbered = chosen is None or ":" in chosen
        written = _write_frames(kind.frames[suffix], clip, path, picture, numbered)
    return written if picture is None or kind.embeds else [*written, _copy_beside(picture, path)]


def _find_format(to: str | None, output: str | Path | None) -> tuple[str, Format]:
    """The format by name, or by the ending of the output."""
    suffix = Path(output).suffix.lower() if output is not None else ""
    if to is None:
        found = [name for name, kind in FORMATS.items() if suffix in kind.suffixes]
        if not found:
            raise InputError("export --to", f"must be one of {', '.join(FORMATS)}", suffix or None)
        to = found[0]
    if to not in FORMATS:
        raise InputError("export --to", f"must be one of {', '.join(FORMATS)}", to)
    if output is not None and suffix not in FORMATS[to].suffixes:
        raise InputError("export --output", f"must end in {' or '.join(FORMATS[to].suffixes)} for {to}", str(output))
    return to, FORMATS[to]


def _check_texture(texture: str | Path | None, name: str, kind: Format) -> Path | None:
    if texture is None:
        return None
    if not kind.textured:
        takers = ", ".join(name for name, kind in FORMATS.items() if kind.textured)
        raise InputError("export --texture", f"only {takers} hold a picture", name)
    if not Path(texture).is_file():
        raise InputError("export --texture", "no such file", str(texture))
    return Path(texture)


def _check_output(recording: Recording, output: str | Path | None, kind: Format) -> Path:
    """Where to write: never into the recording, which holds nothing else."""
    folder = recording.path.absolute()
    if output is None:
        suffix = kind.suffixes[0]
        if kind.animated is not None or kind.last_only:
            return folder.with_name(folder.name + suffix)
        return folder.with_name(f"{folder.name}-{suffix[1:]}") / (folder.name + suffix)
    path = Path(output)
    if path.absolute().is_relative_to(folder):
        raise InputError("export --output", "lies in the recording; choose a place outside of it", str(path))
    return path


def _write_animated(write: WriteClip, clip: Clip, path: Path, picture: Path | None) -> Path:
    """One file with all frames, complete or absent."""
    with staged(path) as place:
        write(clip, place, picture)
    return path


def _write_frames(write: WriteFrame, clip: Clip, path: Path, picture: Path | None, numbered: bool) -> list[Path]:
    """A file per frame, with its number in the name when `numbered`; for VTK then also an index for ParaView.

    All are complete before the first takes the place of one that was there.
    """
    names, entries = [], []
    material = path.with_suffix(".mtl") if picture else None
    with staged_together(path.absolute().parent) as stage:
        for snapshot in clip:
            name = f"{path.stem}_{snapshot.frame:06d}{path.suffix}" if numbered else path.name
            write(snapshot, stage / name, clip, material)
            names.append(name)
            entries.append((name, snapshot.time))
        if material and picture:
            write_output(stage / material.name, encode_material(picture.name))
            names.append(material.name)
        if numbered and path.suffix.lower() in FORMATS["vtk"].suffixes:
            write_series(stage / (path.name + ".series"), entries)
            names.append(path.name + ".series")
    return [path.with_name(name) for name in names]


def _copy_beside(picture: Path, path: Path) -> Path:
    """The picture in the folder of the output, where the file looks for it."""
    place = path.absolute().with_name(picture.name)
    if not (place.exists() and place.samefile(picture)):
        write_output(place, read_file(picture, MOST_BYTES))
    return place
