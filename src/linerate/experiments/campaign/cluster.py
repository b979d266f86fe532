"""Dask's scheduler and workers: on this machine, or wherever testbeds are.

Every connection is encrypted, and both sides show a certificate: who reaches a scheduler or a
worker runs programs as its user. Loopback is no exception: other users of the machine reach it.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import dask
from distributed import Client, Nanny, Scheduler, SpecCluster, Worker
from distributed.security import Security

from linerate.base.errors import UserError
from linerate.experiments.campaign import children
from linerate.experiments.campaign.worker_preload import EndChildren
from linerate.model.campaign import Campaign

LOOPBACK = "127.0.0.1"
#: A scheduler that was restarted, or not yet started, is tried again at this interval.
AGAIN_SECONDS = 2.0
CONNECT_SECONDS = 10.0
#: Workers measure on the CPUs on which they run: they look after themselves as little as can be.
#: No pages are served. Work goes only where `run` sends it.
_CONFIG = {
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.admin.tick.interval": "5s",
    "distributed.admin.tick.limit": "10m",
    "distributed.comm.require-encryption": True,
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS:.0f}s",
    "distributed.nanny.environ": {},
    "distributed.nanny.pre-spawn-environ": {},
    "distributed.scheduler.allowed-failures": 3,
    "distributed.scheduler.http.routes": [],
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.worker-saturation": "inf",
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
}
_PRELOAD = "linerate.experiments.campaign.worker_preload"


class ClusterError(UserError):
    """A scheduler that can't be reached, or that is gone."""


class KeysMissingError(UserError):
    """Keys that a campaign names, and that are not there."""


def resource(testbed: str) -> str:
    """Dask's resource that stands for a testbed."""
    return f"testbed:{testbed}"


def security_of(campaign: Campaign) -> Security:
    """Keys of the campaign, or ones that only this process has. Raises KeysMissingError."""
    tls = campaign.tls
    if campaign.scheduler is None or tls is None:
        temporary: Security = Security.temporary()
        return temporary
    for path in (tls.ca, tls.cert, tls.key):
        if not path.is_file():
            raise KeysMissingError(f"{path}: no such file: `linerate campaign keys` makes it")
    roles = ("client", "scheduler", "worker")
    files = {f"tls_{role}_cert": str(tls.cert) for role in roles}
    files |= {f"tls_{role}_key": str(tls.key) for role in roles}
    return Security(require_encryption=True, tls_ca_file=str(tls.ca), **files)


@contextmanager
def connected(campaign: Campaign) -> Iterator[Client]:
    """A client of the campaign's scheduler; without one in the file, of a cluster made for it."""
    with quiet():
        security = security_of(campaign)
        if campaign.scheduler is not None:
            with _client(campaign.scheduler, security) as client:
                yield client
            return
        with (
            _local(campaign, security) as cluster,
            _client(cluster.scheduler_address, security) as client,
        ):
            yield client


@contextmanager
def quiet() -> Iterator[None]:
    """Dask as campaigns want it: `run` has a line for lost connections, not a log."""
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    dask.config.set(_CONFIG)
    yield


@contextmanager
def _client(address: str, security: Security) -> Iterator[Client]:
    try:
        client = Client(address, security=security, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ClusterError(f"{address}: no scheduler with these keys answers there") from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


@contextmanager
def _local(campaign: Campaign, security: Security) -> Iterator[SpecCluster]:
    """A scheduler in this process, and a worker process for each testbed; loopback only."""
    scheduler = {
        "cls": Scheduler,
        "options": {"host": LOOPBACK, "port": 0, "protocol": "tls", "security": security}
        | {"dashboard_address": f"{LOOPBACK}:0", "dashboard": False},
    }
    workers = {
        one.name: {"cls": Nanny, "options": _options(one.name, security) | {"host": LOOPBACK}}
        for one in campaign.testbeds
    }
    with SpecCluster(
        workers=workers, scheduler=scheduler, security=security, silence_logs=logging.CRITICAL
    ) as cluster:
        yield cluster


def _options(testbed: str, security: Security) -> dict[str, Any]:
    """Options of a worker that owns a testbed."""
    return {
        "name": testbed,
        "nthreads": 1,
        "resources": {resource(testbed): 1},
        "memory_limit": 0,
        "security": security,
        "protocol": "tls",
        "dashboard_address": f"{LOOPBACK}:0",
        "dashboard": False,
        "preload": [_PRELOAD],
        "silence_logs": logging.CRITICAL,
    }


def host_and_port(address: str) -> tuple[str, int]:
    """Host and port of `tls://HOST:PORT`."""
    parts = urlsplit(address)
    return parts.hostname or LOOPBACK, parts.port or 8786


def serve_scheduler(campaign: Campaign) -> None:
    """Be the campaign's scheduler until a signal comes. Raises ClusterError."""
    assert campaign.scheduler is not None
    host, port = host_and_port(campaign.scheduler)
    security = security_of(campaign)

    async def serve() -> None:
        stopped = _stopped_by_signal()
        scheduler = Scheduler(
            host=host,
            port=port,
            protocol="tls",
            security=security,
            dashboard=False,
            dashboard_address=f"{LOOPBACK}:0",
        )
        try:
            await scheduler
        except OSError as error:
            raise ClusterError(f"{campaign.scheduler}: {error}") from error
        try:
            await stopped.wait()
        finally:
            await scheduler.close()

    with quiet():
        asyncio.run(serve())


def serve_worker(campaign: Campaign, testbed: str) -> None:
    """Own a testbed until a signal comes; a scheduler that is not there is tried again."""
    assert campaign.scheduler is not None
    address = campaign.scheduler
    security = security_of(campaign)
    options = _options(testbed, security)
    del options["preload"]
    host, _ = host_and_port(address)
    if host in (LOOPBACK, "localhost", "::1"):
        options["host"] = LOOPBACK

    async def serve() -> None:
        stopped = _stopped_by_signal()
        waiting = asyncio.create_task(stopped.wait())
        while not stopped.is_set():
            children.begin_again()
            with contextlib.suppress(OSError, TimeoutError):
                worker = Worker(address, plugins=(EndChildren(),), **options)
                async with worker:
                    done = asyncio.create_task(worker.finished())
                    await asyncio.wait((waiting, done), return_when=asyncio.FIRST_COMPLETED)
                    children.end_all()
            await asyncio.wait((waiting,), timeout=AGAIN_SECONDS)

    with quiet():
        asyncio.run(serve())


def _stopped_by_signal() -> asyncio.Event:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    return stopped
