"""`linerate traffic`: what a profile describes, and the frames that it makes."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.table import Table

from linerate.base.published import Output, printed, published
from linerate.cli.options import JsonOption
from linerate.cli.usage import FAILED, USAGE
from linerate.engine.engine_process import EngineError
from linerate.traffic import Profile, TrafficError, complete, find
from linerate.traffic.frames import write_frames
from linerate.traffic.sizes import frame_bytes_of, is_cut
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

WIDTH = 80
RATES = {"pps": "pps", "l1_bps": "bit/s L1", "l2_bps": "bit/s L2", "percent": "% of line"}

traffic = typer.Typer(
    no_args_is_help=True, help="What a traffic profile describes, and the frames that it makes."
)

Text = Annotated[
    str,
    typer.Argument(
        help="A name, a size or a file, as of `linerate bench --traffic`.",
        metavar="PROFILE",
        autocompletion=complete,
    ),
]


@published("traffic-show", "JSON of `linerate traffic show --json`")
class ProfileOutput(Output):
    """A profile, its streams and connections in the engine's words (docs/traffic.md)."""

    name: str
    text: str
    streams: tuple[dict[str, Any], ...]
    connections: dict[str, Any] | None


class CaptureOutput(Output):
    """A capture that was written."""

    path: str
    #: Its frames enter there: 0 for t0, 1 for t1.
    side: int
    frames: int


published("traffic-frames", "JSON of `linerate traffic frames --json`")(list[CaptureOutput])


@traffic.command(epilog="Example: [bold]linerate traffic show mine.py,size=512[/]")
def show(profile: Text, as_json: JsonOption = False) -> None:
    """Show a profile's streams: rates, sizes, what changes from frame to frame."""
    found = _find(profile)
    if as_json:
        say(printed("traffic-show", _output(found)))
        return
    console = Console(width=min(WIDTH, Console().width))
    console.print(found.text)
    console.print(_table(found))


@traffic.command(epilog="Example: [bold]linerate traffic frames imix out.pcap --count 1000[/]")
def frames(
    profile: Text,
    out: Annotated[Path, typer.Argument(help="Capture to write.", metavar="OUT.pcap")],
    count: Annotated[int, typer.Option(help="Frames of each side.", min=1, max=1_000_000)] = 10_000,
    signed: Annotated[
        bool, typer.Option("--signed", help="With stream and sequence number, as in trials.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the first frames that the engine makes of a profile, a capture for each side."""
    try:
        written = write_frames(_find(profile), count, out, signed=signed)
    except TrafficError as error:
        _fail(str(error), USAGE)
    except EngineError as error:
        _fail(str(error), FAILED)
    if as_json:
        rows = [
            CaptureOutput(path=str(one.path), side=one.side, frames=one.frames) for one in written
        ]
        say(printed("traffic-frames", rows))
        return
    for one in written:
        say(f"{one.path}: {one.frames} frames that enter at t{one.side}")


def _find(text: str) -> Profile:
    try:
        return find(text)
    except TrafficError as error:
        _fail(str(error), USAGE)


def _fail(text: str, status: int) -> NoReturn:
    complain(f"linerate: {text}")
    raise typer.Exit(status)


def _output(profile: Profile) -> ProfileOutput:
    return ProfileOutput(
        name=profile.name,
        text=profile.text,
        streams=tuple(dict(stream) for stream in profile.streams),
        connections=None if profile.connections is None else dict(profile.connections),
    )


def _table(profile: Profile) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("stream", "in"):
        table.add_column(name, no_wrap=True)
    for name in ("bytes", "rate"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what changes, what was asked", overflow="fold")
    for number, stream in enumerate(profile.streams):
        table.add_row(
            str(stream.get("name") or number),
            f"t{stream.get('port', 0)}",
            _bytes(stream),
            _rate(stream),
            "; ".join(_asked(stream)) or "one frame, over and over",
        )
    return table


def _bytes(stream: Mapping[str, Any]) -> str:
    size = frame_bytes_of(stream)
    return f"≤ {size}" if is_cut(stream) else f"{size}"


def _rate(stream: Mapping[str, Any]) -> str:
    for kind, value in stream.get("rate", {}).items():
        return f"{value:,.10g} {RATES.get(kind, kind)}"
    return f"weight {stream.get('weight', 1)}"


def _asked(stream: Mapping[str, Any]) -> Iterable[str]:
    program = stream.get("program", {})
    for variable in program.get("variables", ()):
        yield _variable(variable)
    for pair in program.get("tuples", ()):
        yield f"tuples {pair['ip_min']}-{pair['ip_max']} port {pair['port_min']}-{pair['port_max']}"
    for modifier in stream.get("modifiers", ()):
        yield f"{modifier['field']} {modifier.get('op', 'increment')}"
    if stream.get("flows"):
        yield f"{stream['flows'].get('count', 1):,} flows"
    if stream.get("bursts"):
        bursts = stream["bursts"]
        times = f"{bursts['count']} × " if bursts["count"] else "again and again "
        yield f"{times}{bursts['frames']} frames, gap {bursts['gap_us']:g} µs"
    if stream.get("start_us"):
        yield f"from {stream['start_us']:g} µs on"
    if stream.get("latency"):
        yield "latency"
    if stream.get("count_by") == "ip_id":
        yield "counted by its IP header"
    elif "template" in stream and not stream.get("signature"):
        yield "no room for a signature: comes back as other"


def _variable(variable: Mapping[str, Any]) -> str:
    if "values" in variable:
        return f"{variable['name']} {variable['op']} of {len(variable['values'])}"
    step = variable.get("step", 1)
    by = f" by {step}" if step != 1 else ""
    return f"{variable['name']} {variable['op']}{by} {variable['min']}-{variable['max']}"
