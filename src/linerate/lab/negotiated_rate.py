"""The rate of real links whose testbed names none: what the tester's ports negotiated."""

import os
from pathlib import Path

from linerate.base import ownership
from linerate.base.errors import SetupError, TestbedError
from linerate.engine.engine_process import Engine, EngineError, Files
from linerate.host import machine
from linerate.lab import links
from linerate.lab.engine_config import devices_of, idle_config
from linerate.lab.tester._links import PortLinks, Say, await_links
from linerate.model.testbed import Testbed


def with_link(testbed: Testbed, say: Say) -> Testbed:
    """The same testbed with the lowest rate that its links negotiated, if it names none.

    Starts an engine for it. Raises TestbedError when a link does not come up or has no rate.
    """
    if testbed.wire != "ethdev" or testbed.link_bps is not None:
        return testbed
    try:
        speeds = _speeds(testbed, say)
    except (EngineError, SetupError) as error:
        raise TestbedError([str(error)]) from error
    unknown = [port for port, speed in speeds.items() if not speed]
    if unknown or not speeds:
        which = unknown[0] if unknown else "the tester's ports"
        raise TestbedError([f"link: {which}: the driver names no speed; add it, as `link: 10G`"])
    return testbed.model_copy(update={"link_bps": min(speeds.values())})


def _speeds(testbed: Testbed, say: Say) -> dict[str, int]:
    cpus = (testbed.cpus or machine.allowed_cpus())[:1]
    with (
        ownership.temporary_folder("rate") as folder,
        links.find(testbed.wire).joined(testbed) as ends,
    ):
        config = idle_config(testbed, ends, f"link-{os.getpid()}")
        files = Files(Path(folder) / "link.config.json", Path(folder) / "link.log")
        with (
            Engine(config | {"cpus": list(cpus)}, files, cpus) as engine,
            engine.connect() as telemetry,
        ):
            found = await_links(PortLinks(telemetry, devices_of(config), None, say))
    return {name: link.speed_bps for name, link in found.items()}
