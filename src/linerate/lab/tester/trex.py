"""Tester `trex`: somebody's TRex server (docs/tester-trex.md), driven by TRex's own client."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linerate.base.errors import SetupError
from linerate.lab import links
from linerate.lab.engine_config import tester_config
from linerate.lab.links import Ends
from linerate.lab.trex.client import running
from linerate.lab.trex.streams import trex_streams
from linerate.lab.trex.tester import TrexTester
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed


@contextmanager
def trex_tester(
    testbed: Testbed, ends: Ends, loadtest: Loadtest, file: Callable[[str], Path]
) -> Iterator[TrexTester]:
    """Take the server's ports for a loadtest; they are released on exit. Raises SetupError."""
    spec = testbed.tester
    assert spec is not None
    assert spec.server is not None
    streams = _streams(testbed, ends, loadtest)
    host, sync_port, async_port = spec.server_address
    log = file("trex.log")
    with running(host, sync_port, async_port, log) as client:
        yield TrexTester(client, streams, testbed.line_bps, spec.server_ports)


def _streams(testbed: Testbed, ends: Ends, loadtest: Loadtest) -> list[dict[str, Any]]:
    """Streams of a loadtest in the engine's words, all of which TRex can say; raises SetupError."""
    config = tester_config(testbed, ends, loadtest, "trex")["tester"]
    if "streams" not in config or loadtest.loopbacks > 1:
        raise SetupError(f"{loadtest.name}: tester trex sends streams over one pair of ports alone")
    streams: list[dict[str, Any]] = config["streams"]
    trex_streams(streams, testbed.line_bps, 1.0, (0, 1))
    return streams


def refusal(testbed: Testbed, loadtest: Loadtest) -> str:
    """Why TRex can't send the frames of a loadtest, in a line; nothing where it can."""
    try:
        with links.find(testbed.wire).joined(testbed) as ends:
            _streams(testbed, ends, loadtest)
    except SetupError as error:
        return str(error)
    return ""
