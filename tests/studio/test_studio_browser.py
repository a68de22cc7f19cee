"""The studio in a real browser: headless Chromium, driven by Selenium. Skipped where either is missing."""

from __future__ import annotations

import asyncio
import io
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
from recording_samples import frame_report, grid_mesh, make_recording, sample_model, step_report
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from crumple.recording import create_recording
from crumple.scenes import load_scene
from crumple.state import initial_state
from crumple.studio.runs import SceneRun, StudioRun
from crumple.studio.serve import open_port
from crumple.studio.server import StudioServer

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
def serve() -> Iterator[Callable[[list[StudioRun]], str]]:
    """Serves runs in a thread until the test is over, and gives the address."""
    ends: list[Callable[[], None]] = []

    def start(runs: list[StudioRun]) -> str:
        from aiohttp import web

        listening, loop, ready = open_port("127.0.0.1", 0), asyncio.new_event_loop(), threading.Event()

        async def run() -> None:
            runner = web.AppRunner(StudioServer(runs).application(), shutdown_timeout=0.5)
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
        for one in runs:
            one.start()

        def end() -> None:
            loop.call_soon_threadsafe(task.cancel)
            thread.join(20)
            for one in runs:
                one.close()

        ends.append(end)
        return f"http://127.0.0.1:{listening.getsockname()[1]}/"

    yield start
    for end in ends:
        end()


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


def until(browser: webdriver.Chrome, script: str, seconds: float = 30.0) -> Any:
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
    shown = browser.execute_script("return studio.stage.displays.map(one => one.frame.frame)")
    assert abs(shown[1] - min(shown[0], 5)) <= 3  # both have 25 frames per second; machines may be busy
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
