"""What the server answers, and to whom."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

pytest.importorskip("aiohttp")
from aiohttp import WSServerHandshakeError
from aiohttp.test_utils import TestClient, TestServer
from packets import decode_packet
from recording_samples import record_frames

from crumple.recording import Recorder, Recording
from crumple.runtime.errors import InputError
from crumple.studio.guard import Guard, is_loopback
from crumple.studio.runs import Refusal, StudioRun
from crumple.studio.serve import address, open_port
from crumple.studio.server import Page, StudioServer


def visit(folders: list[Path], work, guard: Guard | None = None) -> None:
    """Run the coroutine function `work(client)` against a studio of these recordings."""

    async def session() -> None:
        app = StudioServer([StudioRun(folder) for folder in folders], guard).application()
        async with TestClient(TestServer(app)) as client:
            await work(client)

    asyncio.run(session())


def answers(folder: Path, path: str, status: int, text: str) -> None:
    """Check the answer to one request."""

    async def work(client: TestClient) -> None:
        answer = await client.get(path, allow_redirects=False)
        content = await answer.read()
        assert answer.status == status, content
        assert text in content.decode(errors="replace")

    visit([folder], work)


def test_page_and_its_parts(recorded):
    async def work(client: TestClient) -> None:
        page = await client.get("/")
        assert "crumple studio" in await page.text()
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        for name in ("main", "data", "view", "surface", "colors", "plots", "panel", "timeline", "vendor/three.min"):
            part = await client.get(f"/{name}.js")
            assert part.status == 200
            assert part.content_type == "text/javascript"
            assert "http" not in (await part.text()).split("\n")[0][:200]

    visit([recorded], work)


def test_frames_fields_series_and_faces(recorded):
    async def work(client: TestClient) -> None:
        run = await (await client.get("/api/runs/0")).json()
        assert run["frames"] == [0, 1, 2, 3, 4]
        assert run["times"] == pytest.approx([0.0, 0.04, 0.08, 0.12, 0.16])
        assert "dye" in {field["name"] for field in run["fields"]}
        assert (await (await client.get("/api/runs/0?after=3")).json())["frames"] == [4]
        values, arrays = decode_packet(await (await client.get("/api/runs/0/frames/2?field=speed")).read())
        assert values["field"]["where"] == "node"
        assert len(arrays["field"]) == len(arrays["x"])
        series = await (await client.get("/api/runs/0/series")).json()
        assert series["frame"] == [1, 2, 3, 4]
        assert series["phases"]["contact"] == [0.05] * 4
        assert series["energies"]["membrane"] == [1.5] * 4
        face = await (await client.get("/api/runs/0/frames/2/faces/5")).json()
        assert face["face"] == 5
        assert len(face["nodes"]) == 3

    visit([recorded], work)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/api/runs/1", "the studio has runs 0 to 0"),
        ("/api/runs/-1", "run = -1"),
        ("/api/runs/x", "must be a whole number"),
        ("/api/runs/0?after=1e9", "must be a whole number"),
        ("/api/runs/0/frames/5", "has no such frame"),
        ("/api/runs/0/frames/99999999999999999999", "must be a whole number"),
        ("/api/runs/0/frames/%D9%A1", "must be a whole number"),
        ("/api/runs/0/frames/1?field=nonsense", "this recording has damage"),
        ("/api/runs/0/frames/1/faces/4000", "this frame has faces 0 to 39"),
    ],
)
def test_bad_requests_get_one_clear_line(recorded, path, says):
    answers(recorded, path, 400, says)


@pytest.mark.parametrize(
    "path",
    [
        "/scene.toml",
        "/../scene.toml",
        "/vendor/../../server.py",
        "/vendor/%2e%2e/index.html",
        "/%2fetc%2fpasswd",
        "/api/runs/..%2f0",
        "/api/runs/0/frames/..%2f..%2flog.jsonl",
        "/api/runs/0/frames/frame_000000.vtkhdf",
        "/page/index.html",
    ],
)
def test_nothing_else_is_served(recorded, path):
    async def work(client: TestClient) -> None:
        reader, writer = await asyncio.open_connection(client.host, client.port)  # a client would tidy up the path
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = (await reader.read()).decode(errors="replace")
        writer.close()
        assert answer.split()[1] in ("400", "404")
        assert "root:" not in answer
        assert "sample" not in answer

    visit([recorded], work)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Host": "192.168.1.7"},
        {"Host": "]["},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_other_names_and_origins_are_refused(recorded, headers):
    async def work(client: TestClient) -> None:
        answer = await client.get("/api/runs/0", headers=headers)
        assert answer.status == 403
        assert "sample" not in await answer.text()
        with pytest.raises(WSServerHandshakeError):
            await client.ws_connect("/socket", headers=headers)

    visit([recorded], work)


@pytest.mark.parametrize("host", ["localhost:1234", "127.0.0.1", "[::1]:80"])
def test_names_of_this_machine_pass(recorded, host):
    async def work(client: TestClient) -> None:
        assert (await client.get("/api/runs/0", headers={"Host": host})).status == 200

    visit([recorded], work)


def test_elsewhere_a_token_is_needed(recorded):
    guard = Guard.for_host("0.0.0.0")
    assert len(guard.token) >= 32
    assert Guard.for_host("0.0.0.0").token != guard.token

    async def work(client: TestClient) -> None:
        named = {"Host": "workstation:8765"}
        for refused in ("/", "/api/runs/0", "/api/runs/0?token=wrong", "/?token="):
            assert (await client.get(refused, headers=named)).status == 403
        with pytest.raises(WSServerHandshakeError):
            await client.ws_connect("/socket", headers=named)
        bearer = {**named, "Authorization": f"Bearer {guard.token}"}
        assert (await client.get("/api/runs/0", headers=bearer)).status == 200
        page = await client.get(f"/?token={guard.token}", headers=named)
        cookie = page.cookies["crumple_studio"]
        assert cookie["httponly"]
        assert cookie["samesite"] == "Strict"
        known = {**named, "Cookie": f"crumple_studio={cookie.value}"}
        assert (await client.get("/api/runs/0", headers=known)).status == 200
        socket = await client.ws_connect("/socket", headers=known)
        assert "runs" in await socket.receive_json()

    visit([recorded], work, guard)


def test_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "evil.example", "")))
    assert not Guard.for_host("127.0.0.1").token


def test_news_come_while_a_run_is_being_written(recorded, tmp_path):
    folder = shutil.copytree(recorded, tmp_path / "growing")

    async def work(client: TestClient) -> None:
        socket = await client.ws_connect("/socket")
        (run,) = (await socket.receive_json(timeout=5))["runs"]
        assert (run["name"], run["count"], run["simulation"]) == ("growing", 5, None)
        with Recorder(folder) as recorder:
            record_frames(recorder, range(5, 7))
        count = 5
        while count < 7:
            count = (await socket.receive_json(timeout=5))["runs"][0]["count"]
        assert (await (await client.get("/api/runs/0?after=4")).json())["frames"] == [5, 6]
        for frame in (6, 5, 4):
            Recording(folder).frame_path(frame).unlink()
        generation = 0
        while not generation:
            generation = (await socket.receive_json(timeout=5))["runs"][0]["generation"]

    visit([folder], work)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("nonsense", "not a command like"),
        ("[]", "not a command like"),
        (json.dumps({"do": "pause", "run": 7}), "the studio has runs 0 to 0"),
        (json.dumps({"do": "pause", "run": True}), "the studio has runs 0 to 0"),
        (json.dumps({"do": "pause", "run": 0}), "is a recording; only a simulation"),
    ],
)
def test_bad_commands_get_one_clear_line(recorded, message, says):
    async def work(client: TestClient) -> None:
        socket = await client.ws_connect("/socket")
        await socket.receive_json(timeout=5)
        await socket.send_str(message)
        assert says in (await socket.receive_json(timeout=5))["error"]

    visit([recorded], work)


@pytest.mark.parametrize("turns", range(6))
def test_the_end_may_come_while_something_changes(recorded, turns):
    """`asyncio.wait_for` returns, and forgets that it was cancelled, when what it waits for has just happened."""

    async def session() -> None:
        server = StudioServer([StudioRun(recorded)])
        server._pages[1] = Page(AsyncMock())  # a page is open
        watching = server._watching(server.application())
        await anext(watching)
        await asyncio.sleep(0.05)
        server._wake.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        ended, _ = await asyncio.wait([asyncio.ensure_future(anext(watching, None))], timeout=10.0)
        assert ended

    asyncio.run(session())


class Listener:
    """A socket that takes everything, or nothing."""

    def __init__(self, is_stuck: bool) -> None:
        self.is_stuck, self.heard = is_stuck, []

    async def send_str(self, text: str) -> None:
        if self.is_stuck:
            await asyncio.Event().wait()
        self.heard.append(json.loads(text))


class Refusing(StudioRun):
    """A run that refuses what page 2 has asked for."""

    def refusals(self) -> list[Refusal]:
        return [Refusal(2, "not there"), Refusal(99, "a page that has gone"), Refusal(None, "no page")]


def test_a_page_that_does_not_listen_holds_up_no_other_and_each_is_told_its_own_refusals(recorded):
    async def session() -> list[Listener]:
        run = Refusing(recorded)
        server, listeners = StudioServer([run]), [Listener(True), Listener(False), Listener(False)]
        server._pages = {k + 1: Page(one) for k, one in enumerate(listeners)}
        watching = server._watching(server.application())
        await anext(watching)
        for name in ("one", "two", "three"):
            run._label = name
            server._wake.set()
            await asyncio.sleep(0.3)
        await anext(watching, None)
        return listeners

    stuck, second, third = asyncio.run(session())
    for listener in (second, third):
        assert [news["runs"][0]["name"] for news in listener.heard if "runs" in news][-1] == "three"
    assert {"error": "not there"} in second.heard
    assert not [news for news in third.heard if "error" in news]
    assert not stuck.heard


@pytest.mark.parametrize(
    "command",
    [
        '{"do": "drive", "run": 0}',
        '{"do": "drive", "run": 0, "group": "a", "percent": NaN}',
        '{"do": "drive", "run": 0, "group": "a", "percent": 1e999}',
        '{"do": "drive", "run": 0, "group": "a", "percent": {"a": 1}}',
        '{"do": "drive", "run": 0, "group": ' + "[" * 500 + "]" * 500 + ', "percent": 1}',
        '{"do": "drive", "run": 0, "group": "' + "x" * 60_000 + '", "percent": 1}',
        '{"do": "drive", "run": 7, "group": "a", "percent": 1}',
        '{"do": "drive", "run": 0, "group": "a", "percent": 1}',
        '{"do": ["drive"], "run": 0}',
    ],
)
def test_sliders_of_what_is_no_simulation_and_nonsense_get_one_short_line(recorded, command):
    async def work(client: TestClient) -> None:
        socket = await client.ws_connect("/socket")
        await socket.receive_json(timeout=5)
        await socket.send_str(command)
        error = (await socket.receive_json(timeout=5))["error"]
        assert 0 < len(error) < 400
        assert "\n" not in error

    visit([recorded], work)


def test_a_large_message_ends_the_connection_only(recorded):
    async def work(client: TestClient) -> None:
        socket = await client.ws_connect("/socket")
        await socket.receive_json(timeout=5)
        await socket.send_str("x" * 1_000_000)
        message = await socket.receive(timeout=5)
        assert message.type.name in ("CLOSE", "CLOSED", "ERROR")
        assert (await client.get("/api/runs/0")).status == 200

    visit([recorded], work)


def test_a_port_is_found_or_the_wish_is_refused_clearly():
    with open_port("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"--port = {port}.*leave --port out"):
            open_port("127.0.0.1", port)
    with open_port("127.0.0.1", None) as first, open_port("127.0.0.1", None) as second:
        assert first.getsockname() != second.getsockname()
    with pytest.raises(InputError, match="--host"):
        open_port("203.0.113.9", 0)


def test_the_address_has_the_token_where_one_is_needed():
    assert address(Guard(), "127.0.0.1", 80) == "http://127.0.0.1:80/"
    assert address(Guard(), "::1", 80) == "http://[::1]:80/"
    assert address(Guard("abc"), "0.0.0.0", 80) == f"http://{socket.gethostname()}:80/?token=abc"


def test_not_a_recording(tmp_path):
    with pytest.raises(InputError, match="not a recording"):
        StudioRun(tmp_path)


def test_the_end_tells_the_pages_and_does_not_wait_for_them(recorded):
    async def session() -> None:
        server = TestServer(StudioServer([StudioRun(recorded)]).application())
        async with TestClient(server) as client:
            socket = await client.ws_connect("/socket")
            await socket.receive_json(timeout=5)
            closing = asyncio.create_task(server.close())
            assert (await socket.receive(timeout=5)).type.name in ("CLOSE", "CLOSING", "CLOSED")
            await asyncio.wait_for(closing, 5)

    asyncio.run(session())


@pytest.mark.parametrize(
    ("name", "value"), [("Origin", "http://["), ("Authorization", "Bearer \udcff"), ("Cookie", "crumple_studio=\udcff")]
)
def test_headers_that_make_no_sense_are_bad_requests(recorded, name, value):
    """They are sent by hand, because no client lets them through."""

    async def work(client: TestClient) -> None:
        host, port = client.server.host, client.server.port
        reader, writer = await asyncio.open_connection(host, port)
        header = f"{name}: {value}".encode("utf-8", "surrogateescape")
        writer.write(b"GET /api/runs/0 HTTP/1.1\r\nHost: %b:%d\r\n%b\r\n\r\n" % (host.encode(), port, header))
        first = await asyncio.wait_for(reader.readline(), 10.0)
        writer.close()
        assert first.split()[1] in (b"400", b"403"), first

    visit([recorded], work, Guard("secret"))


def test_connections_without_a_request_are_closed(recorded, monkeypatch):
    from crumple.studio import serve

    monkeypatch.setattr(serve, "IDLE_PATIENCE", 2.0)
    monkeypatch.setattr(serve, "MOST_IDLE", 8)

    async def session() -> None:
        listening = open_port("127.0.0.1", 0)
        place = listening.getsockname()[:2]
        ready = asyncio.Event()
        task = asyncio.create_task(
            serve._serve(StudioServer([StudioRun(recorded)], Guard()).application(), listening, ready.set)
        )
        await asyncio.wait_for(ready.wait(), 10.0)
        pairs = [await asyncio.open_connection(*place) for _ in range(40)]
        await asyncio.sleep(1.5)
        ended = [reader.at_eof() for reader, _ in pairs]
        assert sum(ended) == 32, "only so many are kept"
        reader, writer = await asyncio.open_connection(*place)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % place[1])
        assert (await asyncio.wait_for(reader.readline(), 10.0)).split()[1] == b"200", "others are served"
        await asyncio.sleep(3.0)
        assert all(reader.at_eof() for reader, _ in pairs), "none is kept for ever"
        task.cancel()
        await asyncio.wait([task])
        for _, one in [*pairs, (reader, writer)]:
            one.close()

    asyncio.run(session())
