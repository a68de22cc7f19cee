"""How long the hand waits for the sheet: pointer to packet, pointer to picture, and pictures per second, in a browser.

    python benchmarks/live_latency.py [--sheet note] [--moves 40] [--seconds 5] [--starts 5]

Starts `crumple play` some times, and tells how long it takes from the command until a page that opens then shows the
sheet, and until it can be taken. Then serves it, opens it in headless Chromium (needs selenium, chromium and
chromedriver), takes a corner, and lets the sheet come to rest in the hand. Then the pointer jumps by some pixels, again
and again, each time after a pause; the clock of the page tells when the first packet has come in which the corner has
moved by a twentieth of the way, and when the first picture with it was drawn and the graphics were done. After that the
corner is dragged in circles for some seconds, pictures and simulated frames are counted, and the CPU time of each link
of the chain: simulator, server, browser. Other times are on the clock: they depend on what else the machine does, so
that the load is told with them; Chromium draws in software here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--window-size=1200,800",
)  # fmt: skip
WARM_UP = 15.0
"""Of dragging [s], in which the page finds out how finely this machine can draw."""
SHARE = 0.05
"""Of the way that the corner must have gone to count as moved."""

TOOLS = """
window.bench = {
  pictures: 0, frames: new Set(), waiting: null,
  corner() {
    const { u } = page.table.sheet.arrays, { low, extent } = page.table.sheet;
    let best = 0;
    for (let k = 0; k < u.length / 2; k++) {
      const away = (j) => Math.hypot(u[2 * j] - low[0] - 0.97 * extent[0], u[2 * j + 1] - low[1] - 0.03 * extent[1]);
      if (away(k) < away(best)) best = k;
    }
    return best;
  },
  at(k, x = page.motion.newer) { return page.table.camera.position.clone().fromArray(x, 3 * k); },
  onScreen(k) {
    const p = this.at(k).project(page.table.camera);
    return [((p.x + 1) * innerWidth) / 2, ((1 - p.y) * innerHeight) / 2];
  },
  fire(kind, x, y) {
    const about = { pointerId: 1, button: 0, buttons: 1, clientX: x, clientY: y, bubbles: true, cancelable: true };
    page.table.canvas.dispatchEvent(new PointerEvent(kind, about));
  },
  /** Jump with the pointer; resolves with the times [ms] to the first packet and the first picture that show it. */
  jump(k, x, y, least) {
    return new Promise((done) => {
      const from = this.at(k), begin = performance.now();
      const wait = (this.waiting = { k, from, begin, least, done, packet: null });
      setTimeout(() => {
        if (this.waiting === wait) this.waiting = null;
        done(null);
      }, 8000);
      this.fire("pointermove", x, y);
    });
  },
  /** Drag in circles of a radius [pixels] for a time [ms]. */
  circle(x, y, radius, span) {
    return new Promise((done) => {
      const begin = performance.now();
      this.pictures = 0;
      this.frames.clear();
      const go = () => {
        const t = performance.now() - begin;
        if (t > span) return done({ pictures: this.pictures, frames: this.frames.size, ms: t });
        this.fire("pointermove", x + radius * Math.sin(t / 300), y - radius * (1 - Math.cos(t / 300)));
        setTimeout(go, 8);
      };
      go();
    });
  },
};
page.table.canvas.setPointerCapture = () => {};  // events that are made have no pointer to capture
const { motion, table } = page, add = motion.add.bind(motion);
const draw = table.draw.bind(table), place = table.place.bind(table);
motion.add = (x, now) => {
  add(x, now);
  bench.frames.add(page.frame);
  const wait = bench.waiting;
  if (!wait || wait.packet || bench.at(wait.k, x).distanceTo(wait.from) <= wait.least) return;
  wait.packet = performance.now() - wait.begin;
};
table.place = (x) => {
  bench.shown = x;
  place(x);
};
table.draw = (always) => {
  const isDrawn = draw(always), wait = bench.waiting;
  bench.pictures += isDrawn;
  if (isDrawn && wait?.packet && bench.shown && bench.at(wait.k, bench.shown).distanceTo(wait.from) > wait.least) {
    table.renderer.getContext().finish();
    wait.done({ packet: wait.packet, picture: performance.now() - wait.begin });
    bench.waiting = null;
  }
  return isDrawn;
};
"""


def descendants(pid: int) -> list[int]:
    """A process and all that it has started."""
    below = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return [pid, *(one for child in below for one in descendants(int(child)))]


def cpu_seconds(pids: list[int]) -> float:
    """CPU time [s] of processes until now, of all their threads."""
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
        except OSError:  # it has ended
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def start_times(browser: webdriver.Chrome, sheet: str) -> dict[str, float]:
    """From the command to the sheet on the page, and to when it can be taken [s], and CPU time of server and simulator
    until then [s]."""
    begin = time.monotonic()
    process, url = serve(sheet)
    try:
        browser.get(url)
        until(browser, "window.page && page.frame >= 0", 600)
        seen = time.monotonic() - begin
        until(browser, "page.frame > 0", 600)
        taken = time.monotonic() - begin
        cpu = cpu_seconds(descendants(process.pid))
    finally:
        process.terminate()
        process.wait(10)
    browser.get("about:blank")
    return {
        "seen": round(seen, 2),
        "taken": round(taken, 2),
        "cpu": round(cpu, 2),
        "load": round(os.getloadavg()[0], 1),
    }


def serve(sheet: str) -> tuple[subprocess.Popen[str], str]:
    """A server of a sheet, and its address."""
    command = [sys.executable, "-m", "crumple.cli", "play", sheet, "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"http://\S+", line)
        if found:
            return process, found.group(0)
    raise SystemExit("crumple play has ended")


def open_browser() -> webdriver.Chrome:
    """A headless browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_script_timeout(60)
    return driver


def until(browser: webdriver.Chrome, script: str, seconds: float) -> None:
    """Wait until `script` is true."""
    end = time.monotonic() + seconds
    while not browser.execute_script(f"return {script}"):
        if time.monotonic() > end:
            raise SystemExit(f"not so after {seconds:g} s: {script}")
        time.sleep(0.05)


def links(server: int, browser: webdriver.Chrome) -> dict[str, list[int]]:
    """The processes of each link of the chain."""
    below = descendants(server)
    return {"server": [server], "simulator": below[1:], "browser": descendants(browser.service.process.pid)}


def measure(browser: webdriver.Chrome, server: int, moves: int, seconds: float) -> dict[str, Any]:
    """Latencies [ms] of all moves, and rates and CPU times while dragging."""
    browser.execute_script(TOOLS)
    k = browser.execute_script("return bench.corner()")
    x, y = browser.execute_script("return bench.onScreen(arguments[0])", k)
    x, y = x - 4, y - 4  # of the corner itself, no pixel may be the sheet's
    browser.execute_script("bench.fire('pointerdown', ...arguments); bench.fire('pointermove', ...arguments)", x, y)
    until(browser, "document.getElementById('canvas').classList.contains('holds')", 10)
    jump = "const done = arguments[4]; bench.jump(...[...arguments].slice(0, 4)).then(done)"
    y -= 60
    browser.execute_async_script(jump, k, x, y, 0.0005)  # lift it: not counted
    circle = "const done = arguments[4]; bench.circle(...[...arguments].slice(0, 4)).then(done)"
    browser.execute_async_script(circle, x, y, 40, 1000 * WARM_UP)
    browser.execute_script("bench.fire('pointermove', ...arguments)", x, y)
    found = []
    for move in range(moves):
        time.sleep(1.0)
        y += 12 if move % 2 else -12
        found.append(browser.execute_async_script(jump, k, x, y, SHARE * 0.005))
    chain = links(server, browser)
    before = {name: cpu_seconds(pids) for name, pids in chain.items()}
    dragged = browser.execute_async_script(circle, x, y, 60, 1000 * seconds)
    spent = {name: 1000 * (cpu_seconds(pids) - before[name]) for name, pids in chain.items()}
    browser.execute_script("bench.fire('pointerup', ...arguments)", x, y)
    got = [one for one in found if one]
    return {
        "moves": moves,
        "lost": moves - len(got),
        "packet_ms": sorted(round(one["packet"], 1) for one in got),
        "picture_ms": sorted(round(one["picture"], 1) for one in got),
        "pictures_per_second": round(1000 * dragged["pictures"] / dragged["ms"], 1),
        "frames_per_second": round(1000 * dragged["frames"] / dragged["ms"], 1),
        "cpu_ms_per_frame": {
            "simulator": round(spent["simulator"] / max(dragged["frames"], 1), 1),
            "server": round(spent["server"] / max(dragged["frames"], 1), 1),
        },
        "cpu_ms_per_picture": round(spent["browser"] / max(dragged["pictures"], 1), 1),
        "faces": browser.execute_script("return page.table.sheet.mesh.count"),
        "load": [round(one, 1) for one in os.getloadavg()],
        "cores": os.cpu_count(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sheet", default="note")
    parser.add_argument("--moves", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=5.0, help="of dragging in circles")
    parser.add_argument("--starts", type=int, default=5, help="of the command, to time the first touch")
    parser.add_argument("--json", action="store_true", help="all numbers")
    options = parser.parse_args()
    browser = open_browser()
    try:
        starts = [start_times(browser, options.sheet) for _ in range(options.starts)]
        process, url = serve(options.sheet)
        try:
            browser.get(url)
            until(browser, "window.page && page.frame > 1", 600)
            result = measure(browser, process.pid, options.moves, options.seconds) | {"starts": starts}
        finally:
            process.terminate()
            process.wait(10)
    finally:
        browser.quit()
    if options.json:
        print(json.dumps(result))
    else:
        for one in starts:
            print(
                "from the command: seen after {seen} s, can be taken after {taken} s; CPU {cpu} s, load {load}".format(
                    **one
                )
            )
        for what in ("packet", "picture"):
            times = result[f"{what}_ms"]
            late = times[int(0.9 * (len(times) - 1))]
            print(f"pointer to {what}: median {statistics.median(times):.0f} ms, 90 % within {late:.0f} ms")
        rates = f"{result['pictures_per_second']} pictures and {result['frames_per_second']} frames per second in hand"
        print(f"{rates}; {result['faces']} faces; {result['lost']} of {result['moves']} moves not seen")
        frame, picture = result["cpu_ms_per_frame"], result["cpu_ms_per_picture"]
        print(
            f"CPU: simulator {frame['simulator']} and server {frame['server']} ms a frame, "
            f"browser {picture} ms a picture"
        )
        print(f"load {result['load'][0]} on {result['cores']} cores")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
