"""The studio in a real browser: headless Chromium, driven by Selenium. Skipped where either is missing."""

from __future__ import annotations

import asyncio
import io
import itertools
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("selenium")
from aiohttp import web
from recording_samples import frame_report, grid_mesh, make_recording, sample_model, step_report
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from crumple.cli.viewing import _recordings
from crumple.recording import create_recording
from crumple.scenes import load_scene, scene_from_tables
from crumple.state import initial_state
from crumple.studio.play_server import PlayServer
from crumple.studio.runs import SceneRun, StudioRun
from crumple.studio.serve import open_port
from crumple.studio.server import StudioServer
from crumple.studio.sheets import sheet_tables

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver"),
]
SCENE = """
[run]
frame_time = 0.01
duration = 100.0
[[sheets]]
shape = { kind = "rectangle", width = 0.1, height = 0.08, size = 0.04 }
material = "cotton"
"""

FLAT_MIURA = {
    "run": {"frame_time": 0.02, "duration": 1000.0},
    "solver": {"integrator": "implicit-euler"},
    "environment": {"gravity": [0.0, 0.0, 0.0]},
    "sheets": [
        {
            "material": "paper80",
            "shape": {"kind": "miura", "columns": 2, "rows": 2, "a": 0.03, "b": 0.03, "alpha": 60.0, "size": 0.03},
            "creases": [
                {
                    "name": "zigzags", "group": "zigzag", "drive": "hard",
                    "keys": [
                        {"time": 0.0, "angle": 0.0}, {"time": 2000.0, "angle": 0.0}, {"time": 2001.0, "angle": 120.0},
                    ],
                },
                {"name": "lines", "group": "straight", "drive": "free"},
            ],
        }
    ],
}  # fmt: skip
"""A Miura-ori that stays flat until somebody folds it."""


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in (
        "--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync",
        "--disable-component-update", "--disable-quic", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        "--ignore-gpu-blocklist", "--window-size=1200,800",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def serve_application() -> Iterator[Callable[[web.Application], str]]:
    """Serves an application in a thread until the test is over, and gives the address."""
    ends: list[Callable[[], None]] = []

    def start(application: web.Application) -> str:
        listening, loop, ready = open_port("127.0.0.1", 0), asyncio.new_event_loop(), threading.Event()

        async def run() -> None:
            runner = web.AppRunner(application, shutdown_timeout=0.5)
            await runner.setup()
            await web.SockSite(runner, listening).start()
            ready.set()
            try:
                await asyncio.Event().wait()
            finally:
                await runner.cleanup()

        task = loop.create_task(run())

        def work() -> None:
            try:
                loop.run_until_complete(task)
            except asyncio.CancelledError:
                loop.close()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert ready.wait(20)

        def end() -> None:
            loop.call_soon_threadsafe(task.cancel)
            thread.join(20)

        ends.append(end)
        return f"http://127.0.0.1:{listening.getsockname()[1]}/"

    yield start
    for end in ends:
        end()


@pytest.fixture
def serve(serve_application) -> Iterator[Callable[[list[StudioRun]], str]]:
    """Serves runs until the test is over, and gives the address."""
    served: list[StudioRun] = []

    def start(runs: list[StudioRun]) -> str:
        url = serve_application(StudioServer(runs).application())
        for one in runs:
            one.start()
        served.extend(runs)
        return url

    yield start
    for one in served:
        one.close()


@pytest.fixture
def waving(tmp_path) -> Path:
    """A sheet that waves, with damage that grows from one corner."""
    mesh, model = grid_mesh(12, 12), sample_model()
    with create_recording(tmp_path / "waving", "name = 'waving'\n") as recorder:
        for frame in range(12):
            x = mesh.node_rest.copy()
            x[:, 2] = 0.02 * np.sin(60.0 * x[:, 0] + 0.7 * frame) + 0.1
            state = initial_state(mesh, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=1)
            damage = np.linalg.norm(mesh.u[mesh.faces].mean(axis=1), axis=1) * frame
            state = state.replaced(time=0.04 * frame, frame=frame, damage=damage)
            if frame == 0:
                recorder.on_start(model, state)
                continue
            recorder.on_step(model, state, step_report(state.time))
            recorder.on_frame(model, state, frame_report(state))
    return tmp_path / "waving"


def until(browser: webdriver.Chrome, script: str, seconds: float = 60.0) -> Any:
    """What `script` returns as soon as that is true."""
    end = time.monotonic() + seconds
    while not (answer := browser.execute_script(f"return {script}")):
        assert time.monotonic() < end, script
        time.sleep(0.05)
    return answer


def picture(browser: webdriver.Chrome) -> np.ndarray:
    """The pixels of the world and the pattern, once what was asked for is drawn."""
    from PIL import Image

    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))")
    element = browser.find_element("id", "stage")
    return np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB"), np.int16)


def differing(a: np.ndarray, b: np.ndarray) -> float:
    """The fraction of pixels that differ visibly."""
    return float(np.mean(np.abs(a - b).max(axis=2) > 12))


def until_like(browser: webdriver.Chrome, wanted: np.ndarray, most: float, seconds: float = 60.0) -> None:
    """Wait until no larger fraction of the pixels than `most` differs from what is wanted."""
    end = time.monotonic() + seconds
    while (found := differing(wanted, picture(browser))) >= most:
        assert time.monotonic() < end, found
        time.sleep(0.2)


def go_to(browser: webdriver.Chrome, place: int) -> None:
    scrub = "const s = document.getElementById('scrub'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
    browser.execute_script(scrub, place)
    until(browser, f"studio.stage.displays.every(one => one.frame.frame === {place})")


def visit(browser: webdriver.Chrome, url: str) -> None:
    """Open a page; what the console said of the one before is forgotten."""
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(url)


def open_page(browser: webdriver.Chrome, url: str, displays: int = 1) -> None:
    visit(browser, url)
    until(browser, f"window.studio && studio.stage.displays.length === {displays}")
    until(browser, "studio.stage.displays.every(one => one.frame && one.fitted)")
    until(browser, "studio.plots.series !== null")


def complaints(browser: webdriver.Chrome) -> list[str]:
    """What the console says, and what the page complains about."""
    said = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    notice = browser.execute_script("return document.querySelector('#notice.bad')?.textContent ?? ''")
    return [line for line in [*said, notice] if line and "GPU stall" not in line]


def test_scrubbing_moves_the_mesh_and_fields_colour_it(browser, serve, waving):
    open_page(browser, serve([StudioRun(waving)]))
    go_to(browser, 2)
    plain = picture(browser)
    assert plain.std() > 10  # something is drawn
    assert differing(plain, picture(browser)) == 0.0  # and it stays as it is
    go_to(browser, 7)
    moved = picture(browser)
    assert differing(plain, moved) > 0.02
    choose = "const f = document.getElementById('field'); f.value = arguments[0]; f.dispatchEvent(new Event('change'))"
    browser.execute_script(choose, "damage")
    until(browser, "studio.stage.displays[0].frame.field?.name === 'damage'")
    coloured = picture(browser)
    assert differing(moved, coloured) > 0.05
    assert np.ptp(coloured, axis=2).max() > 150  # saturated colours, which plain paper has not
    assert browser.find_element("id", "legend").is_displayed()
    assert float(browser.find_element("id", "high").get_attribute("value")) > 0.5
    browser.execute_script(choose, "")
    until(browser, "!studio.stage.displays[0].frame.field")
    for toggle in ("wireframe", "obstacles", "pattern"):
        before = picture(browser)
        browser.find_element("id", toggle).click()
        assert differing(before, picture(browser)) > 0.002, toggle
        browser.find_element("id", toggle).click()
    assert complaints(browser) == []


def test_a_face_is_picked_and_followed(browser, serve, waving):
    open_page(browser, serve([StudioRun(waving)]))
    go_to(browser, 3)
    pattern = browser.execute_script("return studio.stage.displays[0].patternElement")
    webdriver.ActionChains(browser).move_to_element(pattern).click().perform()
    until(browser, "document.getElementById('face').rows.length > 8")
    face = browser.execute_script("return studio.stage.displays[0].picked")
    middle = grid_mesh(12, 12)
    assert np.abs(middle.u[middle.faces[face]].mean(axis=0) - 0.05).max() < 0.02
    row = "[...document.getElementById('face').rows].find(row => row.cells[0].textContent === 'damage')"
    read = f"{row}.cells[1].textContent"
    before = browser.execute_script(f"return {read}")
    go_to(browser, 9)
    until(browser, f"{read} !== '{before}'")
    assert float(browser.execute_script(f"return {read}")) == pytest.approx(3 * float(before), rel=1e-3)
    assert complaints(browser) == []


def test_recordings_side_by_side_and_playing(browser, serve, waving, tmp_path):
    other = make_recording(tmp_path / "other", 6, obstacle=False)
    open_page(browser, serve([StudioRun(waving), StudioRun(other)]), displays=2)
    assert len(browser.find_elements("css selector", ".pane")) == 4
    browser.execute_script("document.getElementById('play').click()")
    until(browser, "studio.timeline.place > 4")
    browser.execute_script("document.getElementById('play').click()")
    frames = "studio.stage.displays.map(one => one.frame.frame)"
    until(browser, f"(([a, b]) => Math.abs(b - Math.min(a, 5)) <= 1)({frames})")  # both have 25 frames per second
    browser.execute_script("document.querySelector('#runs input').click()")
    until(browser, "studio.stage.displays.length === 1 && studio.timeline.lead.name === 'other'")
    assert complaints(browser) == []


def test_a_running_simulation_is_paused_and_continued(browser, serve, tmp_path):
    (tmp_path / "falling.toml").write_text(SCENE)
    folder = tmp_path / "falling"
    url = serve([StudioRun(folder, SceneRun(load_scene(tmp_path / "falling.toml"), folder, False))])
    visit(browser, url)
    until(browser, "window.studio && studio.runs[0]?.frames.length > 2", 120)
    count = "return studio.runs[0].frames.length"
    browser.find_element("css selector", ".hold").click()
    until(browser, "studio.runs[0].simulation.state === 'paused'")
    time.sleep(1.0)
    held = browser.execute_script(count)
    time.sleep(1.5)
    assert browser.execute_script(count) == held
    assert browser.find_element("css selector", ".hold").text == "continue"
    browser.find_element("css selector", ".hold").click()
    until(browser, f"studio.runs[0].frames.length > {held + 2}")
    until(browser, "studio.timeline.place === studio.runs[0].frames.length - 1")  # the page follows the newest frame
    browser.find_element("css selector", ".stop").click()
    until(browser, "studio.runs[0].simulation.state === 'stopped'")
    assert complaints(browser) == []


def choose(browser: webdriver.Chrome, name: str, value: str) -> None:
    script = "const one = document.getElementById(arguments[0]); one.value = arguments[1]"
    browser.execute_script(f"{script}; one.dispatchEvent(new Event('change'))", name, value)


def test_a_sheet_is_dressed_measured_and_found_again_by_its_address(browser, serve, waving):
    open_page(browser, serve([StudioRun(waving)]))
    go_to(browser, 7)
    plain = picture(browser)
    choose(browser, "look", "newspaper")
    assert differing(plain, picture(browser)) > 0.02
    browser.find_element("id", "measure").click()
    pattern = browser.execute_script("return studio.stage.displays[0].patternElement")
    width = browser.execute_script("return arguments[0].clientWidth", pattern)
    actions = webdriver.ActionChains(browser).move_to_element_with_offset(pattern, -width // 4, 0).click()
    actions.move_to_element_with_offset(pattern, width // 8, 0).click().perform()
    measured = until(browser, "(t => t.includes('along') && t)(document.getElementById('measured').textContent)")
    across, along = (float(measured.split(word)[1].split("mm")[0]) for word in ("across", "along"))
    a, b = (50 + 112 * share for share in (-0.25, 0.125))  # [mm]: the pattern fills 1/1.12 of its pane
    rise = 20 * (np.sin(0.06 * b + 4.9) - np.sin(0.06 * a + 4.9))
    assert along == pytest.approx(b - a, rel=0.02)
    assert across == pytest.approx(np.hypot(b - a, rise), rel=0.03)
    until(browser, "location.hash.includes('frame=7') && location.hash.includes('look=newspaper')")
    seen, url = picture(browser), browser.current_url
    visit(browser, url)
    until(browser, "window.studio && studio.stage.displays[0]?.frame?.frame === 7 && studio.stage.displays[0].fitted")
    assert browser.execute_script("return studio.stage.look.dress") == "newspaper"
    browser.execute_script("document.getElementById('measure').click(); document.getElementById('measure').click()")
    until_like(browser, seen, 0.02)  # but for the line that measures
    visit(browser, url.split("#")[0] + "#frame=nine&runs=77&look=../x&camera=1,2&range=a,b&show=none&shading=3")
    until(browser, "window.studio && studio.stage.displays[0]?.frame && studio.stage.displays[0].fitted")
    assert complaints(browser) == []


KEEP_FILM = """
URL.createObjectURL = (blob) => {
  const reader = new FileReader();
  reader.onload = () => (window.kept = reader.result.split(",")[1]);
  reader.readAsDataURL(blob);
  return "#";
};
"""
"""Instead of offering a film as a file, the page keeps it in base64."""


def filmed(browser: webdriver.Chrome, path: Path) -> np.ndarray:
    """The pictures of the film that the page has kept, (count, height, width, 3)."""
    import base64

    import imageio_ffmpeg

    path.write_bytes(base64.b64decode(until(browser, "window.kept")))
    options = ["-vf", "scale=320:200", "-fps_mode", "passthrough"]
    pictures = imageio_ffmpeg.read_frames(str(path), output_params=options)
    next(pictures)
    return np.stack([np.frombuffer(one, np.uint8).reshape(200, 320, 3) for one in pictures]).astype(np.int16)


def test_a_film_shows_the_sheet_that_moves(browser, serve, waving, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    open_page(browser, serve([StudioRun(waving)]))
    browser.execute_script(KEEP_FILM)
    drawn = "studio.stage.displays[0].frame.frame"
    browser.execute_script("window.seen = new Set(); setInterval(() => seen.add(" + drawn + "), 5)")
    browser.find_element("id", "film").click()
    pictures = filmed(browser, tmp_path / "film.webm")
    assert browser.execute_script("return seen.size") == 12, "no frame is left out, however busy the machine is"
    steps = [differing(a, b) for a, b in itertools.pairwise(pictures)]
    assert sum(step > 0.01 for step in steps) >= 5  # an encoder without time may lose some
    assert pictures.mean(axis=(1, 2, 3)).min() > 100  # none is black
    assert complaints(browser) == []


def test_a_folder_of_runs_shows_what_can_be_read_and_says_what_cannot(browser, serve, waving, tmp_path):
    folder = tmp_path / "runs"
    for name in ("good", "damaged", "ruined"):
        shutil.copytree(waving, folder / name)
    os.truncate(folder / "damaged" / "frames" / "frame_000005.vtkhdf", 700)
    for frame in (folder / "ruined" / "frames").glob("*.vtkhdf"):
        os.truncate(frame, 100)
    (folder / "empty" / "frames").mkdir(parents=True)
    (folder / "nothing").mkdir()
    (folder / "notes.txt").write_text("not a run")
    visit(browser, serve([StudioRun(one, label=label) for one, label in _recordings(folder)]))
    until(browser, "window.studio && studio.runs.length === 4 && studio.stage.displays.length === 3")
    until(browser, "studio.stage.displays[0].frame && studio.stage.displays[1].frame")  # damaged, good
    says = "studio.stage.displays[{}].element.firstChild.textContent"
    until(browser, f"{says.format(2)}.includes('frame_000000.vtkhdf: truncated')")
    assert "no frame" in browser.find_element("css selector", "#runs label:nth-child(2)").text
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    scrub = "const s = document.getElementById('scrub'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
    browser.execute_script(scrub, 5)
    until(browser, f"{says.format(0)}.includes('frame_000005.vtkhdf: truncated')")
    until(browser, "studio.stage.displays[1].frame.frame === 5")
    browser.execute_script(scrub, 6)
    until(browser, f"studio.stage.displays[0].frame.frame === 6 && {says.format(0)} === 'damaged'")
    shutil.copy(waving / "frames" / "frame_000000.vtkhdf", folder / "empty" / "frames")  # a run begins
    until(browser, "studio.runs[1].count === 1")
    until(browser, "!document.querySelector('#runs label:nth-child(2)').textContent.includes('no frame')")


def test_many_recordings_are_a_list(browser, serve, waving):
    open_page(browser, serve([StudioRun(waving, label=f"number {k}") for k in range(8)]), displays=8)
    assert browser.find_element("id", "recordings").is_displayed()
    browser.find_element("id", "search").send_keys("number 5")
    shown = [label.text for label in browser.find_elements("css selector", "#list label") if label.is_displayed()]
    assert len(shown) == 1
    browser.find_element("css selector", "#list label:nth-child(6) input").click()
    until(browser, "studio.stage.displays.length === 7")
    assert complaints(browser) == []


def test_a_running_scene_is_taken_by_the_mouse(browser, serve, tmp_path):
    (tmp_path / "floating.toml").write_text(SCENE + "[environment]\ngravity = [0.0, 0.0, 0.0]\n")
    folder = tmp_path / "floating"
    url = serve([StudioRun(folder, SceneRun(load_scene(tmp_path / "floating.toml"), folder, False))])
    visit(browser, url)
    until(browser, "window.studio && studio.runs[0]?.frames.length > 2 && studio.stage.displays[0]?.fitted", 120)
    time.sleep(1.0)  # the camera has seen both ends
    browser.find_element("id", "take").click()
    pane = browser.execute_script("return studio.stage.displays[0].element").rect
    x, y = round(pane["x"] + pane["width"] / 2), round(pane["y"] + pane["height"] / 2)
    drag(browser, (x, y), (x, y - 60), (x, y - 120))
    until(browser, "Math.max(...studio.stage.displays[0].frame.x.filter((_, k) => k % 3 === 2)) > 0.01")
    let_go(browser)
    assert complaints(browser) == []


def test_the_creases_of_a_running_pattern_follow_their_slider(browser, serve, tmp_path):
    """And what is refused is told to the page that asked."""
    folder = tmp_path / "miura"
    url = serve([StudioRun(folder, SceneRun(scene_from_tables(FLAT_MIURA, source="test"), folder, False))])
    visit(browser, url)
    until(browser, "window.studio && studio.runs[0]?.frames.length > 2 && studio.stage.displays[0]?.fitted", 120)
    height = "(x => Math.max(...x) - Math.min(...x))(studio.stage.displays[0].frame.x.filter((_, k) => k % 3 === 2))"
    assert browser.execute_script(f"return {height}") < 1e-4
    slider = browser.find_element("css selector", ".drive input")
    webdriver.ActionChains(browser).move_to_element(slider).click_and_hold().move_by_offset(12, 0).release().perform()
    percent = int(slider.get_attribute("value"))
    assert 50 < percent < 90
    until(browser, f"studio.runs[0].simulation.drives.zigzags[1] === {percent}")
    until(browser, f"{height} > 0.005")
    until(browser, f"studio.runs[0].simulation.drives.zigzags[0] === {percent}")
    until(browser, f"document.querySelector('.drive output').textContent === '{percent} %'")
    assert slider.get_attribute("value") == str(percent)
    assert complaints(browser) == []
    browser.execute_script("studio.channel.send({ do: 'drive', run: 0, group: 'wings', percent: 10 })")
    until(browser, "document.querySelector('#notice.bad')?.textContent.includes('the scene has zigzags')")
    browser.execute_script(
        "studio.channel.send({ do: 'grab', run: 0, hand: 1, origin: [9, 9, 9], direction: [0, 0, 1] })"
    )
    until(browser, "document.querySelector('#notice.bad')?.textContent.includes('moved on')")
    browser.find_element("css selector", ".stop").click()
    until(browser, "studio.runs[0].simulation.state === 'stopped'")
    until(browser, "document.querySelector('.drive input').disabled")


ON_SCREEN = """
const [u, v] = arguments, { sheet, camera } = page.table, { u: at } = sheet.arrays, x = page.motion.newer;
const away = (k) => Math.hypot(...[u, v].map((w, d) => (at[2 * k + d] - sheet.low[d]) / sheet.extent[d] - w));
const best = [...Array(at.length / 2).keys()].reduce((a, b) => (away(b) < away(a) ? b : a));
const place = camera.position.clone().fromArray(x, 3 * best).project(camera);
return [Math.round(((place.x + 1) * innerWidth) / 2), Math.round(((1 - place.y) * innerHeight) / 2), x[3 * best + 2]];
"""
"""Where a place of the sheet, both coordinates from 0 to 1, is seen [pixels], and its height [m]."""


def drag(browser: webdriver.Chrome, *points: tuple[float, float]) -> None:
    """Drag with the mouse along points of the screen, without letting go."""
    actions = webdriver.ActionChains(browser, duration=120)
    actions.w3c_actions.pointer_action.move_to_location(*points[0])
    actions.w3c_actions.pointer_action.pointer_down()
    for x, y in points[1:]:
        actions.w3c_actions.pointer_action.move_to_location(x, y)
    actions.perform()


def let_go(browser: webdriver.Chrome) -> None:
    webdriver.ActionChains(browser).release().perform()


def test_a_sheet_is_taken_by_its_corner_and_creased_along_a_line(browser, serve_application):
    tables = sheet_tables("note")
    tables["sheets"][0]["shape"]["size"] = 0.05
    visit(browser, serve_application(PlayServer(tables).application()))
    until(browser, "window.page && page.frame > 1", 60)
    x, y, low = browser.execute_script(ON_SCREEN, 1.0, 0.0)
    x, y = x - 4, y - 4  # of the corner itself, no pixel may be the sheet's
    drag(browser, (x, y), (x, y - 120))
    until(browser, f"(() => {{ {ON_SCREEN.replace('arguments', '[1, 0]')} }})()[2] > {low + 0.01}", 10)
    let_go(browser)
    until(browser, "!document.getElementById('undo').disabled", 10)
    faces = browser.execute_script("return page.table.sheet.mesh.count")
    browser.find_element("id", "reset").click()
    until(browser, "document.getElementById('undo').disabled", 10)
    browser.find_element("id", "crease").click()
    (ax, ay, _), (bx, by, _) = (browser.execute_script(ON_SCREEN, 0.5, v) for v in (0.0, 1.0))
    drag(browser, (ax, ay + 15), (ax, ay - 5), ((ax + bx) / 2, (ay + by) / 2), (bx, by - 15))
    let_go(browser)
    until(browser, f"page.table.sheet.mesh.count > {faces}", 10)  # the crease is an edge of the mesh
    until(browser, "Math.max(...page.motion.newer.filter((_, k) => k % 3 === 2)) > 0.02", 10)  # and one half stands up
    assert complaints(browser) == []


def test_what_is_done_by_hand_is_filmed_and_replayed_to_its_end(browser, serve_application, tmp_path):
    from PIL import Image

    pytest.importorskip("imageio_ffmpeg")
    tables = sheet_tables("note")
    tables["sheets"][0]["shape"]["size"] = 0.05
    visit(browser, serve_application(PlayServer(tables).application()))
    until(browser, "window.page && page.frame > 1", 60)
    Image.new("RGB", (8, 8), (200, 0, 0)).save(tmp_path / "red.png")
    (tmp_path / "torn.png").write_text("no picture")
    browser.find_element("id", "file").send_keys(str(tmp_path / "torn.png"))
    until(browser, "document.getElementById('said').textContent.includes('torn.png: is no picture')")
    browser.find_element("id", "file").send_keys(str(tmp_path / "red.png"))
    until(browser, "document.getElementById('look').value === 'picture'")
    browser.execute_script(KEEP_FILM)
    browser.find_element("id", "film").click()
    x, y, low = browser.execute_script(ON_SCREEN, 1.0, 0.0)
    drag(browser, (x - 4, y - 4), (x - 30, y - 40), (x - 60, y - 70))
    until(browser, f"(() => {{ {ON_SCREEN.replace('arguments', '[1, 0]')} }})()[2] > {low + 0.01}", 20)
    let_go(browser)
    time.sleep(1.0)
    browser.find_element("id", "film").click()
    pictures = filmed(browser, tmp_path / "film.webm")
    assert sum(differing(a, b) > 0.002 for a, b in itertools.pairwise(pictures)) >= 3
    assert pictures.mean(axis=(1, 2, 3)).min() > 60  # none is black
    red = (pictures[..., 0] > 150) & (pictures[..., 1:].max(axis=3) < 60)
    assert red.mean(axis=(1, 2)).min() > 0.005, "the sheet has the user's picture in all of them"
    browser.find_element("id", "replay").click()
    until(browser, "document.getElementById('replay').getAttribute('aria-pressed') === 'true'")
    until(browser, "document.getElementById('said').textContent === 'That is what you did.'")
    until(browser, "document.getElementById('replay').getAttribute('aria-pressed') === 'false'")
    assert complaints(browser) == []


def test_developable_paper_is_taken_and_shows_its_structure(browser, serve_application):
    """It has no creases to press; its rulings come and go with a key, and its mesh changes under the hand."""
    visit(browser, serve_application(PlayServer(sheet_tables("note"), engine="developable").application()))
    until(browser, "window.page && page.frame > 1", 60)
    hidden = "return ['crease', 'cut', 'iron', 'structure'].map((id) => document.getElementById(id).hidden)"
    assert browser.execute_script(hidden) == [True, True, True, False]
    webdriver.ActionChains(browser).send_keys("cxl").perform()  # what is hidden does not work by its key, either
    assert browser.execute_script("return page.tools.tool") == "hand"
    x, y, low = browser.execute_script(ON_SCREEN, 1.0, 0.0)
    drag(browser, (x - 4, y - 4), (x - 90, y - 130))
    until(browser, f"(() => {{ {ON_SCREEN.replace('arguments', '[1, 0]')} }})()[2] > {low + 0.01}", 20)
    until(browser, "page.table.overlay.ends.length > 8", 20)  # rulings, with two ends each
    browser.find_element("id", "structure").click()
    until(browser, "page.table.overlay.lines.visible && page.table.overlay.dots.some((dot) => dot.visible)")
    assert browser.execute_script("return page.table.sheet.isSmooth && page.motion.newer.every(Number.isFinite)")
    let_go(browser)
    until(browser, "!document.getElementById('undo').disabled", 10)
    assert complaints(browser) == []
