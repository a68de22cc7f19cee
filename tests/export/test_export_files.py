"""What is written comes back through another library: positions, topology, texture coordinates, frame by frame."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from export_samples import FRAME_TIME, FRAMES, NAMES, corner_rows, make_changing_recording
from recording_samples import sample_model

from crumple.boundary.obstacles import make_obstacle
from crumple.export import export_recording
from crumple.export.clip import choose_frames
from crumple.export.surface import Surface
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.model.model import Model
from crumple.recording import Recording, create_recording
from crumple.recording.files import write_atomically
from crumple.recording.frame import encode_frame
from crumple.runtime.errors import InputError
from crumple.state import initial_state

TEXTURE = Path(__file__).parent / "paper.png"


def expected(surface: Surface) -> np.ndarray:
    """The corners of all faces of a surface."""
    return corner_rows(surface.x[surface.mesh.face_nodes], surface.texture[surface.mesh.faces])


def sheets_of(recording: Recording, frame: int, *, constant: bool = False) -> list[Surface]:
    return choose_frames(recording, constant=constant).snapshot(frame).surface.sheets(len(NAMES))


def assert_rows(found: np.ndarray, surface: Surface) -> None:
    np.testing.assert_allclose(found, expected(surface), atol=3e-5)


# USD


@pytest.fixture
def stage(changing, tmp_path, request):
    usd = pytest.importorskip("pxr.Usd")
    topology = getattr(request, "param", "changing")
    (path,) = export_recording(changing, output=tmp_path / "take.usdc", topology=topology)
    return usd.Stage.Open(str(path))


@pytest.mark.parametrize("stage", ["changing", "constant"], indirect=True)
def test_usd_comes_back(changing, stage, request):
    from pxr import UsdGeom

    constant = request.node.callspec.params["stage"] == "constant"
    counts = set()
    for frame in changing.frames:
        for name, surface in zip(NAMES, sheets_of(changing, frame, constant=constant), strict=True):
            mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/World/{name}"))
            points = np.array(mesh.GetPointsAttr().Get(frame))
            faces = np.array(mesh.GetFaceVertexIndicesAttr().Get(frame)).reshape(-1, 3)
            assert set(mesh.GetFaceVertexCountsAttr().Get(frame)) == {3}
            st = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
            assert st.GetInterpolation() == "faceVarying"
            texture = np.array(st.ComputeFlattened(frame)).reshape(-1, 3, 2)
            assert_rows(corner_rows(points[faces], texture), surface)
            np.testing.assert_allclose(mesh.GetVelocitiesAttr().Get(frame), surface.v, atol=1e-6)
            assert UsdGeom.Mesh.ValidateTopology(
                mesh.GetFaceVertexIndicesAttr().Get(frame), mesh.GetFaceVertexCountsAttr().Get(frame), len(points)
            )[0]
            counts.add((name, len(faces)))
    assert len(counts) == len(NAMES) if constant else len(counts) > (FRAMES - 1) * len(NAMES)


def test_usd_says_units_axis_and_times(stage):
    from pxr import UsdGeom

    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert stage.GetTimeCodesPerSecond() == pytest.approx(1 / FRAME_TIME)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, FRAMES - 1)
    mesh = UsdGeom.Mesh(stage.GetDefaultPrim().GetChild("page"))
    assert mesh.GetPointsAttr().GetTimeSamples() == list(range(FRAMES))
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert mesh.GetDoubleSidedAttr().Get()


def test_usd_normals_are_apart_at_the_crease_and_one_elsewhere(changing, stage):
    """The page bends gently, so only the labelled line keeps two normals at a point."""
    from pxr import UsdGeom

    mesh, frame = UsdGeom.Mesh(stage.GetPrimAtPath("/World/page")), FRAMES - 1
    page = sheets_of(changing, frame)[0]
    pairs = np.array(mesh.GetCreaseIndicesAttr().Get(frame)).reshape(-1, 2)
    assert len(pairs) == len(mesh.GetCreaseLengthsAttr().Get(frame)) == len(mesh.GetCreaseSharpnessesAttr().Get(frame))
    line = page.mesh.node_rest[np.unique(pairs)]
    np.testing.assert_allclose(line[:, 1], 0.1 + 0.2 * line[:, 0], atol=1e-6)
    normals = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
    flat = np.array(normals.ComputeFlattened(frame)).reshape(-1, 3)
    np.testing.assert_allclose(np.linalg.norm(flat, axis=1), 1.0, atol=1e-5)
    assert flat[:, 2].min() > 0.5
    node, groups = page.mesh.face_nodes.ravel(), np.array(normals.GetIndices(frame))
    per_node = np.array([len(set(groups[node == k])) for k in range(page.mesh.node_count)])
    assert set(np.flatnonzero(per_node > 1)) <= set(pairs.ravel())
    assert (per_node[np.unique(pairs)] == 2).all()


def test_usd_obstacle_moves(changing, stage):
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/block"))
    for frame in changing.frames:
        np.testing.assert_allclose(mesh.GetPointsAttr().Get(frame), changing.load(frame).obstacle_x, atol=1e-6)
    assert len(mesh.GetFaceVertexCountsAttr().Get()) == 4


@pytest.fixture
def passing(tmp_path) -> Recording:
    """The obstacle rests until frame 2, then moves, and takes part from frame 1 until before frame 4."""
    block = sample_model().obstacles[0]
    model = Model(
        materials=(),
        obstacles=(make_obstacle("block", block.faces, block.positions(0.0), start=0.04, end=0.159),),
    )
    recording = Recording(make_changing_recording(tmp_path / "passing", model))
    still = recording.load(0).obstacle_x
    for frame in (1, 2):
        state = recording.load(frame).replaced(obstacle_x=still)
        write_atomically(recording.frame_path(frame), encode_frame(state))
    return recording


def test_usd_obstacle_rests_moves_and_goes(passing, tmp_path):
    """Between frames 2 and 3, where it starts to move, it does not drift from frame 0 on."""
    usd = pytest.importorskip("pxr.Usd")
    from pxr import UsdGeom

    (path,) = export_recording(passing, output=tmp_path / "passing.usda")
    stage = usd.Stage.Open(str(path))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/block"))
    for frame in passing.frames:
        np.testing.assert_allclose(mesh.GetPointsAttr().Get(frame), passing.load(frame).obstacle_x, atol=1e-6)
        assert (mesh.ComputeVisibility(frame) != "invisible") is (1 <= frame <= 3)


def test_gltf_obstacle_moves_and_goes(passing, tmp_path):
    gltf = pytest.importorskip("pygltflib")
    (path,) = export_recording(passing, output=tmp_path / "passing.glb")
    document = gltf.GLTF2().load(str(path))
    read = _reader(document)
    node = next(k for k, node in enumerate(document.nodes) if node.name == "block")
    (primitive,) = document.meshes[document.nodes[node].mesh].primitives
    base, faces = read(primitive.attributes.POSITION), passing.obstacles.faces
    moved = [np.zeros_like(base), *(read(target["POSITION"]) for target in primitive.targets)]
    for frame in passing.frames:
        corners = passing.load(frame).obstacle_x[faces].reshape(-1, 3)
        np.testing.assert_allclose(base + moved[frame], corners, atol=1e-6)
    (animation,) = document.animations
    (scale,) = [c.sampler for c in animation.channels if (c.target.node, c.target.path) == (node, "scale")]
    times, sizes = read(animation.samplers[scale].input), read(animation.samplers[scale].output)
    np.testing.assert_allclose(times, [0.0, 0.04, 0.16], atol=1e-6)
    np.testing.assert_array_equal(sizes, np.repeat([[0.0], [1.0], [0.0]], 3, axis=1))


def test_usd_holds_the_picture(changing, tmp_path):
    pytest.importorskip("pxr.Usd")
    from pxr import Usd, UsdShade

    written = export_recording(changing, output=tmp_path / "t.usda", texture=TEXTURE, obstacles=False, frames="1")
    assert [path.name for path in written] == ["t.usda", TEXTURE.name]
    stage = Usd.Stage.Open(str(written[0]))
    material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/World/page")).ComputeBoundMaterial()
    picture = UsdShade.Shader(stage.GetPrimAtPath(f"{material.GetPath()}/picture"))
    assert Path(picture.GetInput("file").Get().resolvedPath).samefile(tmp_path / TEXTURE.name)
    assert not stage.GetPrimAtPath("/World/block")


# glTF


def test_gltf_morph_targets_are_the_frames(changing, tmp_path):
    gltf = pytest.importorskip("pygltflib")
    (path,) = export_recording(changing, output=tmp_path / "take.glb")
    document = gltf.GLTF2().load(str(path))
    read = _reader(document)
    assert [mesh.name for mesh in document.meshes] == [*NAMES, "block"]
    for k, mesh in enumerate(document.meshes[: len(NAMES)]):
        (primitive,) = mesh.primitives
        base, faces = read(primitive.attributes.POSITION), read(primitive.indices).reshape(-1, 3)
        texture = read(primitive.attributes.TEXCOORD_0) * [1, -1] + [0, 1]
        assert len(primitive.targets) == FRAMES - 1
        moved = [np.zeros_like(base), *(read(target["POSITION"]) for target in primitive.targets)]
        for frame in changing.frames:
            found = corner_rows((base + moved[frame])[faces], texture[faces])
            assert_rows(found, sheets_of(changing, frame, constant=True)[k])
            turned = [np.zeros_like(base), *(read(target["NORMAL"]) for target in primitive.targets)]
            normal = read(primitive.attributes.NORMAL) + turned[frame]
            np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-5)
    (animation,) = document.animations
    assert {channel.target.path for channel in animation.channels} == {"weights"}
    for channel in animation.channels:
        sampler = animation.samplers[channel.sampler]
        np.testing.assert_allclose(read(sampler.input), FRAME_TIME * np.arange(FRAMES), atol=1e-6)
        weights = read(sampler.output).reshape(FRAMES, FRAMES - 1)
        np.testing.assert_array_equal(weights, np.eye(FRAMES)[:, 1:])
        assert sampler.interpolation == "LINEAR"


def test_gltf_with_changing_topology_shows_one_frame_at_a_time(changing, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    gltf = pytest.importorskip("pygltflib")
    (path,) = export_recording(changing, "gltf", tmp_path / "take.glb", topology="changing")
    scene = trimesh.load(path)
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float)  # z up to y up
    for frame in changing.frames:
        for name, surface in zip(NAMES, sheets_of(changing, frame), strict=True):
            mesh = scene.geometry[f"{name}_{frame:06d}"]
            assert_rows(corner_rows(mesh.vertices[mesh.faces], mesh.visual.uv[mesh.faces]), surface)
            found = scene.graph.get(f"{name}_{frame:06d}")[0][:3, :3]
            np.testing.assert_allclose(found, turn if frame == 0 else 0 * turn, atol=1e-6)
    document = gltf.GLTF2().load(str(path))
    read = _reader(document)
    (animation,) = document.animations
    shown = np.zeros((FRAMES, FRAMES))
    for channel in animation.channels:
        name, sampler = document.nodes[channel.target.node].name, animation.samplers[channel.sampler]
        if channel.target.path != "scale" or not name.startswith("page"):
            continue
        assert sampler.interpolation == "STEP"
        times, scale = read(sampler.input), read(sampler.output)[:, 0]
        at = np.searchsorted(times, FRAME_TIME * np.arange(FRAMES) + 1e-4, side="right") - 1
        shown[int(name.split("_")[1])] = scale[np.maximum(at, 0)]
    np.testing.assert_array_equal(shown, np.eye(FRAMES))


def test_gltf_deforms_in_vtk(changing, tmp_path):
    """VTK's reader applies the morph targets and stands the sheet upright."""
    pyvista = pytest.importorskip("pyvista")
    (path,) = export_recording(changing, output=tmp_path / "take.glb", obstacles=False)
    reader = pyvista.get_reader(str(path)).reader
    reader.ApplyDeformationsToGeometryOn()
    reader.UpdateInformation()
    reader.EnableAnimation(0)
    for frame in (0, FRAMES - 1):
        reader.UpdateTimeStep(FRAME_TIME * frame)
        blocks = pyvista.wrap(reader.GetOutputDataObject(0)).combine()
        page = choose_frames(changing, constant=True).snapshot(frame).surface
        low, high = page.x.min(axis=0), page.x.max(axis=0)
        bounds = np.array(blocks.bounds).reshape(3, 2)
        np.testing.assert_allclose(bounds[1], [low[2], high[2]], atol=1e-5)
        np.testing.assert_allclose(bounds[2], [-high[1], -low[1]], atol=1e-5)


def test_gltf_embeds_the_picture(changing, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (path,) = export_recording(changing, output=tmp_path / "t.glb", texture=TEXTURE, frames="0", obstacles=False)
    scene = trimesh.load(path)
    image = scene.geometry["page"].visual.material.baseColorTexture
    assert image.size == (16, 16)


def _reader(document):
    """Reads accessors of a pygltflib document as arrays."""
    blob = document.binary_blob()

    def read(index: int) -> np.ndarray:
        accessor = document.accessors[index]
        view = document.bufferViews[accessor.bufferView]
        kind = {5126: np.float32, 5125: np.uint32}[accessor.componentType]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[accessor.type]
        assert view.byteOffset % 4 == 0
        values = np.frombuffer(blob, kind, accessor.count * width, view.byteOffset)
        if accessor.min:
            np.testing.assert_allclose(values.reshape(-1, width).min(axis=0), accessor.min)
            np.testing.assert_allclose(values.reshape(-1, width).max(axis=0), accessor.max)
        return values.reshape(-1, width) if width > 1 else values

    return read


# Alembic


@pytest.mark.parametrize("topology", ["changing", "constant"])
def test_alembic_comes_back(changing, tmp_path, topology):
    pytest.importorskip("alembic3d")
    from alembic3d import Abc, AbcGeom

    (path,) = export_recording(changing, output=tmp_path / "take.abc", topology=topology)
    top = Abc.IArchive(str(path)).getTop()
    names = [top.getChildHeader(k).getName() for k in range(top.getNumChildren())]
    assert names == [*NAMES, "block"]
    for frame in changing.frames:
        for name, surface in zip(NAMES, sheets_of(changing, frame, constant=topology == "constant"), strict=True):
            schema = AbcGeom.IPolyMesh(top, name).getSchema()
            assert schema.getTimeSampling().getSampleTime(frame) == pytest.approx(FRAME_TIME * frame)
            sample = schema.getValue(Abc.ISampleSelector(FRAME_TIME * frame))
            x = np.array([tuple(p) for p in sample.getPositions()])[:, [0, 2, 1]] * [1, -1, 1]
            faces = np.array(list(sample.getFaceIndices())).reshape(-1, 3)
            uv = schema.getUVsParam().getExpandedValue(Abc.ISampleSelector(FRAME_TIME * frame)).getVals()
            texture = np.array([tuple(p) for p in uv]).reshape(-1, 3, 2)
            assert_rows(corner_rows(x[faces][:, ::-1], texture[:, ::-1]), surface)


# One file per frame


def test_obj_comes_back(changing, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    written = export_recording(changing, output=tmp_path / "take.obj", texture=TEXTURE)
    assert [path.name for path in written] == [
        *(f"take_{frame:06d}.obj" for frame in range(FRAMES)), "take.mtl", TEXTURE.name
    ]  # fmt: skip
    for frame in changing.frames:
        scene = trimesh.load(tmp_path / f"take_{frame:06d}.obj", split_objects=True, process=False)
        for name, surface in zip(NAMES, sheets_of(changing, frame), strict=True):
            mesh = scene.geometry[name]
            assert_rows(corner_rows(mesh.vertices[mesh.faces], mesh.visual.uv[mesh.faces]), surface)
            assert mesh.visual.material.image.size == (16, 16)


def test_obj_keeps_seams_closed(changing, tmp_path):
    """Nodes on a seam are one `v` with several `vt`."""
    export_recording(changing, output=tmp_path / "take.obj", frames="0")
    lines = (tmp_path / "take.obj").read_text().splitlines()
    mesh = changing.load(0).mesh
    assert sum(line.startswith("v ") for line in lines) == mesh.node_count
    assert sum(line.startswith("vt ") for line in lines) == mesh.vertex_count > mesh.node_count


@pytest.mark.parametrize("topology", ["changing", "constant"])
def test_ply_comes_back(changing, tmp_path, topology):
    meshio = pytest.importorskip("meshio")
    written = export_recording(changing, output=tmp_path / "take.ply", topology=topology)
    assert len(written) == FRAMES
    clip = choose_frames(changing, constant=topology == "constant")
    for path, snapshot in zip(written, clip, strict=True):
        mesh, surface = meshio.read(path), snapshot.surface
        faces = mesh.cells_dict["triangle"]
        texture = np.stack([mesh.point_data["s"], mesh.point_data["t"]], axis=1)
        assert_rows(corner_rows(mesh.points[faces], texture[faces]), surface)
        np.testing.assert_allclose(mesh.point_data["vx"], surface.vertex_v[:, 0], atol=1e-6)
        normals = np.stack([mesh.point_data[name] for name in ("nx", "ny", "nz")], axis=1)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)


def test_stl_is_the_last_frame(changing, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (path,) = export_recording(changing, output=tmp_path / "take.stl")
    mesh, state = trimesh.load(path), changing.load(-1)
    found = corner_rows(mesh.triangles, np.zeros((len(mesh.triangles), 3, 2)))
    corners = state.x[state.mesh.face_nodes]
    np.testing.assert_allclose(found, corner_rows(corners, np.zeros((len(corners), 3, 2))), atol=3e-5)


@pytest.mark.parametrize("suffix", [".vtp", ".vtkhdf"])
@pytest.mark.parametrize("topology", ["changing", "constant"])
def test_vtk_comes_back(changing, tmp_path, suffix, topology):
    pyvista = pytest.importorskip("pyvista")
    *written, series = export_recording(changing, output=tmp_path / f"take{suffix}", topology=topology)
    clip = choose_frames(changing, constant=topology == "constant")
    for path, snapshot in zip(written, clip, strict=True):
        data, surface = pyvista.read(path), snapshot.surface
        faces = data.regular_faces
        assert data.active_texture_coordinates is not None
        found = corner_rows(np.asarray(data.points)[faces], np.asarray(data.active_texture_coordinates)[faces])
        assert_rows(found, surface)
        np.testing.assert_allclose(data["pattern"], surface.mesh.u)
        np.testing.assert_array_equal(data["sheet"], surface.mesh.face_sheet)
        assert data.field_data["TimeValue"][0] == pytest.approx(snapshot.time)
    listed = json.loads(series.read_text())["files"]
    assert [file["name"] for file in listed] == [path.name for path in written]
    assert [file["time"] for file in listed] == pytest.approx([FRAME_TIME * k for k in range(FRAMES)])


# What is refused


def test_frames_that_are_not_finite_are_refused(changing, tmp_path):
    shutil.copytree(changing.path, tmp_path / "bad")
    bad = Recording(tmp_path / "bad")
    state = bad.load(2)
    write_atomically(bad.frame_path(2), encode_frame(state.replaced(x=np.where(state.x > 0.1, np.nan, state.x))))
    for name in ("a.glb", "a.obj"):
        with pytest.raises(InputError, match="frame 2 holds numbers that are not finite"):
            export_recording(bad, output=tmp_path / name)
    assert not (tmp_path / "a.glb").exists()
    assert not list(tmp_path.glob("*.part*"))


def test_usd_does_not_blend_two_meshes_that_have_as_many_points(tmp_path):
    """Two frames of a square cut along one diagonal and along the other: half way, USD must show one of both."""
    usd = pytest.importorskip("pxr.Usd")
    from pxr import UsdGeom

    corners = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    states = []
    for frame, order in enumerate(([0, 1, 2, 3], [2, 3, 0, 1], [2, 3, 0, 1])):
        mesh = make_sheet_mesh(corners[order], faces if frame == 0 else faces[:, [1, 2, 0]])
        x = np.column_stack([corners[order], np.full(4, 0.01 * frame)])
        states.append(initial_state(mesh, x).replaced(time=0.04 * frame, frame=frame))
    model = Model(materials=(Material.isotropic("paper", young=2e9, poisson=0.3, thickness=1e-4, density=0.08),))
    with create_recording(tmp_path / "run") as recorder:
        recorder.on_start(model, states[0])
        for state in states[1:]:
            write_atomically(recorder.recording.frame_path(state.frame), encode_frame(state))
    (path,) = export_recording(Recording(tmp_path / "run"), output=tmp_path / "two.usda")
    stage = usd.Stage.Open(str(path))
    (shown,) = (UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh))
    points = [np.array(shown.GetPointsAttr().Get(time)) for time in (0.0, 0.5, 1.0, 1.5, 2.0)]
    np.testing.assert_array_equal(points[1], points[0])
    assert len(points[2]) == len(points[0]) + 1, "one point that no face has"
    np.testing.assert_allclose(points[3], 0.5 * (points[2] + points[4]), atol=1e-7)
    for time in (0.0, 1.0, 2.0):
        api = UsdGeom.PrimvarsAPI(shown)
        damage = api.GetPrimvar("damage")
        assert len(damage.ComputeFlattened(time)) == 2
        assert len(api.GetPrimvar("st").ComputeFlattened(time)) == 6
        assert len(shown.GetVelocitiesAttr().Get(time)) == len(shown.GetPointsAttr().Get(time))
