"""`--traffic`, `--rate` and `--directions`, as every command that sends has them."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from linerate.cli.completion import one_of
from linerate.cli.testbed_options import DEFAULT_LOADTEST
from linerate.model.suites import Loadtest, select
from linerate.model.testbed import Testbed
from linerate.traffic import TrafficError, complete, offered_by
from linerate.traffic.offered import ProfileTraffic

#: A stream that begins so late sends noticeably less than its rate in the shortest trial.
LATE_US = 300
#: File types of profiles.
FILES = (".yaml", ".yml", ".py", ".pcap", ".pcapng", ".cap")
RATES = ("100%", "50%", "10%", "1x", "1mpps", "1gbps")


def complete_traffic(typed: str) -> list[str]:
    """Names and sizes that begin so, and files that may be profiles."""
    folder, name = os.path.split(typed)
    found: list[str] = []
    with contextlib.suppress(OSError):
        for path in Path(folder or ".").iterdir():
            if path.name.startswith(name) and (name or not path.name.startswith(".")):
                text = os.path.join(folder, path.name)  # noqa: PTH118 (as it was typed)
                if path.is_dir():
                    found.append(f"{text}/")
                elif path.suffix.lower() in FILES:
                    found.append(text)
    return complete(typed) + sorted(found)


@dataclass(frozen=True, slots=True)
class TrafficOptions:
    """A profile of traffic instead of the suite's, and its rate."""

    traffic: Annotated[
        str | None,
        typer.Option(
            help="A profile instead: imix, imix-genome:aaafg, 64, or a file (docs/traffic.md).",
            metavar="PROFILE",
            autocompletion=complete_traffic,
        ),
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(
            help="Rate of the profile: a share of the line, its own (1x), 5mpps or 2gbps "
            "in the busier direction.",
            metavar="100%",
            autocompletion=one_of(RATES),
        ),
    ] = None
    directions: Annotated[
        int | None,
        typer.Option("--directions", help="Directions of the profile: one, or both.", min=1, max=2),
    ] = None

    def profiled(self, testbed: Testbed, instead: str | None = None) -> tuple[Loadtest, ...]:
        """The loadtest of a profile, or none without one; raises TrafficError.

        `instead` is what else was asked for, which a profile excludes.
        """
        if self.traffic is None:
            if self.rate is not None or self.directions is not None:
                given = "--rate" if self.rate is not None else "--directions"
                raise TrafficError(
                    f"{given}: expected with a profile, as --traffic 64 --rate 2mpps; each "
                    "loadtest of the suite has its own"
                )
            return ()
        if instead is not None:
            raise TrafficError(f"--traffic: expected either a profile or '{instead}'")
        return (offered_by(self.traffic, testbed, self.rate, self.directions),)

    def profiled_or_standard(self, testbed: Testbed, loadtest: str | None) -> tuple[Loadtest, ...]:
        """The loadtest of a profile, or those of the standard suite that were asked for.

        Raises TrafficError where both were, and ValueError.
        """
        found = self.profiled(testbed, loadtest)
        return found or select("standard", loadtest or DEFAULT_LOADTEST)


def check_steady(loadtests: tuple[Loadtest, ...], what: str) -> None:
    """Raise TrafficError where a profile comes and goes, so that `what` has no rate to hold."""
    for one in loadtests:
        if isinstance(one.traffic, ProfileTraffic) and any(
            stream.get("burst") or stream.get("bursts") or stream.get("start_us", 0) > LATE_US
            for stream in one.traffic.profile.streams
        ):
            raise TrafficError(
                f"--traffic: {one.name} has bursts, or streams that begin later: {what} needs "
                "a rate that holds; linerate bench --traffic measures what they come to"
            )
