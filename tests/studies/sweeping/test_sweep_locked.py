"""Nobody but the sweep itself reaches its workers: others of the same machine are refused, and nothing grows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

distributed = pytest.importorskip("distributed")
pytest.importorskip("cryptography")

from crumple.studies.sweeping.cluster import local_workers  # noqa: E402

NOBODY = 65534
STRANGER = """
import asyncio, json, os, sys
uid, addresses = int(sys.argv[1]), sys.argv[2:]
import distributed
from distributed.comm import connect
from distributed.core import rpc
if uid:
    os.setgid(uid); os.setuid(uid)
assert os.getuid() == uid or not uid
async def reach(address, security):
    try:
        async with asyncio.timeout(8):
            comm = await connect(address, **security.get_connection_args("client"), timeout=5)
            await comm.write({"op": "identity", "reply": True})
            answer = await comm.read()
            comm.abort()
            return "answered " + str(answer)[:60]
    except BaseException as error:
        return "refused " + type(error).__name__
async def main():
    found = {}
    for address in addresses:
        bare = address.split("://")[1]
        found["tcp://" + bare] = await reach("tcp://" + bare, distributed.Security())
        own = distributed.Security.temporary()
        found["tls://" + bare] = await reach("tls://" + bare, own)
    print(json.dumps(found))
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def workers():
    with local_workers(1) as client:
        yield client


@pytest.mark.slow
@pytest.mark.parametrize(
    "uid",
    [
        0,
        pytest.param(
            NOBODY, marks=pytest.mark.skipif(getattr(os, "getuid", lambda: 1)() != 0, reason="only root may be others")
        ),
    ],
)
def test_a_stranger_is_refused(workers, uid):
    """Scheduler, workers and nannies take neither plain connections nor certificates of others, whoever asks."""
    info = workers.scheduler_info()
    listening = [workers.scheduler.address, *info["workers"], *(one["nanny"] for one in info["workers"].values())]
    assert len(set(listening)) == 3
    assert all(address.startswith("tls://127.0.0.1:") for address in listening)
    command = [sys.executable, "-c", STRANGER, str(uid), *listening]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert len(found) == 6
    assert all(answer.startswith("refused") for answer in found.values()), found
    assert workers.submit(sum, [1, 2]).result(timeout=30) == 3, "the sweep itself goes on"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["/status", "/info/main/workers.html", "/json/counts.json", "/metrics", "/health"])
def test_there_is_no_dashboard(workers, page):
    """The web servers that Dask cannot do without tell nothing."""
    info = workers.scheduler_info()
    ports = [info["services"].get("dashboard"), *(one["services"].get("dashboard") for one in info["workers"].values())]
    for port in filter(None, ports):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=10)
        assert refused.value.code == 404


@pytest.mark.slow
def test_nothing_listens_beyond_the_loopback_address(workers):
    """Every listening socket of this process and its children is bound to 127.0.0.1."""
    psutil = pytest.importorskip("psutil")
    here = psutil.Process()
    bound = {
        connection.laddr.ip
        for process in [here, *here.children(recursive=True)]
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert bound == {"127.0.0.1"}


@pytest.mark.slow
def test_nothing_is_kept_of_runs_that_are_over(workers):
    """Dask's profiler kept 150 kB per run in the worker, the log of the client's messages 10 kB in the leader."""
    assert workers.run(lambda dask_worker: "profile" in dask_worker.periodic_callbacks) == dict.fromkeys(
        workers.scheduler_info()["workers"], False
    )
    assert workers.scheduler_comm.recent_message_log.maxlen <= 100


@pytest.mark.slow
def test_a_clock_that_jumps_costs_no_worker(workers):
    """Dask gives up workers that were silent for some time of day, which jumps when a computer wakes up."""
    assert workers.run_on_scheduler(lambda dask_scheduler: dask_scheduler.worker_ttl) is None
