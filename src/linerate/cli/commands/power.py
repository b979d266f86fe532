"""`linerate power`: a meter read once, and a meter's table given to a run."""

import time
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from linerate.base.errors import TestbedError
from linerate.base.published import Output, printed, published
from linerate.base.safe_open import read_regular
from linerate.base.validation import mistake
from linerate.cli.completion import complete_run, one_of
from linerate.cli.options import JsonOption
from linerate.cli.usage import FAILED, USAGE
from linerate.lab.metered import meter_of
from linerate.lab.power import Meter, MeterError
from linerate.model import testbed as testbeds
from linerate.model.power import MeterAbout, PowerFigures
from linerate.model.power_sources import SOURCES, Power
from linerate.parsers.meter_csv import MeterTableError, read_table
from linerate.report.power import about_line, measured, row
from linerate.results.power_attached import attach as attached
from linerate.results.store import load_run
from linerate.ui.screen import complain, say

#: Largest table: a reading a second for a month.
TABLE_BYTES_MAX = 256 << 20

power = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Read a power meter once, or give a run the readings of one afterwards.",
)


@power.callback()
def _group() -> None:
    """Options of the group itself: none."""


@published("power-attach", "JSON of `linerate power attach --json`")
class AttachOutput(Output):
    """Power that trials of a run were given."""

    meter: MeterAbout
    #: By test.
    tests: dict[str, PowerFigures]


@published("power-read", "JSON of `linerate power read --json`")
class ReadOutput(Output):
    """A meter, and its reading now."""

    watts: float
    meter: MeterAbout


@power.command(
    epilog="Examples:\n\n[bold]linerate power read testbed.yaml[/] # the meter of its device\n\n"
    "[bold]linerate power read shelly url=http://192.168.1.7[/]\n\n"
    "[bold]linerate power read ipmi host=10.0.0.9 user=lab password_env=BMC[/]\n\n"
    "[bold]linerate power read rapl[/] # this host's CPUs"
)
def read(
    words: Annotated[
        list[str],
        typer.Argument(
            help="A testbed file; or a source and its keys, as in a testbed: shelly url=….",
            metavar="TESTBED|SOURCE [KEY=VALUE…]",
            autocompletion=one_of(SOURCES),
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Say in one line what a meter reads now."""
    spec, at = _spec(words)
    with meter_of(spec, at) as meter:
        try:
            watts = _watts(meter)
        except MeterError as error:
            complain(str(error))
            raise typer.Exit(FAILED) from error
        finally:
            meter.close()
    if as_json:
        say(printed("power-read", ReadOutput(watts=watts, meter=meter.about)))
    else:
        say(f"{watts:.4g} W; {about_line(meter.about)}")


def _spec(words: list[str]) -> tuple[Power, str | None]:
    """The meter of a testbed file, or one in words; exits with a line for each mistake."""
    first, *rest = words
    if first not in SOURCES and not rest:
        found = _testbed(Path(first))
        if found.dut.power is None:
            complain(f"{first}: its dut has no `power:`; docs/power.md has the sources")
            raise typer.Exit(USAGE)
        return found.dut.power, found.dut.at
    keys: dict[str, object] = {"source": first}
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            complain(f"the command line: expected KEY=VALUE, not '{word}'")
            raise typer.Exit(USAGE)
        keys[key] = value.split(",") if key == "zones" else value
    try:
        spec: Power = TypeAdapter(Power).validate_python(keys)
    except ValidationError as error:
        for one in error.errors():
            complain(mistake("the command line", one))
        raise typer.Exit(USAGE) from error
    return spec, None


def _testbed(path: Path) -> testbeds.Testbed:
    try:
        return testbeds.load(path)
    except TestbedError as error:
        for line in error.lines:
            complain(line)
        raise typer.Exit(USAGE) from error


def _watts(meter: Meter) -> float:
    """Power now; of a counter over one interval."""
    first, began = meter.read(), time.monotonic()
    if first.watts is not None or first.joules is None:
        assert first.watts is not None
        return first.watts
    time.sleep(max(1.0, meter.about.interval_seconds))
    second, ended = meter.read(), time.monotonic()
    assert second.joules is not None
    return (second.joules - first.joules) / (ended - began)


@power.command(
    epilog="Examples:\n\n"
    "[bold]linerate power attach runs/20261121-101500-router meter.csv[/]\n\n"
    "[bold]linerate power attach RUN meter.csv --shift -3.5 --accuracy 1 --covers 'at the wall'[/]"
)
def attach(
    run: Annotated[
        Path, typer.Argument(help="A run's folder.", metavar="RUN", autocompletion=complete_run)
    ],
    table: Annotated[
        Path,
        typer.Argument(help="Columns `time` (ISO 8601 or seconds) and `watts`.", metavar="CSV"),
    ],
    shift: Annotated[
        float, typer.Option(help="Seconds by which the meter's clock is late.", metavar="SECONDS")
    ] = 0.0,
    accuracy: Annotated[
        float | None,
        typer.Option(help="The meter's own error, % of a reading.", min=0, max=100),
    ] = None,
    covers: Annotated[str, typer.Option(help="Parts that it measures.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Give each trial of a run the power of its time, from a table that a meter wrote."""
    folder = run if run.is_dir() else run.parent
    try:
        content = read_regular(table, TABLE_BYTES_MAX).decode(errors="replace")
        readings = read_table(content, str(table))
    except OSError as error:
        complain(f"{table}: {(error.strerror or str(error)).lower()}")
        raise typer.Exit(USAGE) from error
    except MeterTableError as error:
        complain(str(error))
        raise typer.Exit(USAGE) from error
    about = MeterAbout(
        source=table.name,
        covers=covers,
        interval_seconds=max(readings.interval_seconds, 0.001),
        resolution_watts=readings.resolution_watts,
        accuracy_percent=accuracy,
    )
    changed = attached(load_run(run), folder, readings, about, shift)
    if as_json:
        tests = {one.test: one.power for one in changed.reported() if one.power is not None}
        say(printed("power-attach", AttachOutput(meter=about, tests=tests), changed.testbed))
        return
    say(about_line(about))
    for result in measured(changed.reported()):
        figures = row(result.test, result.power)
        say(f"{result.test}: {figures[2]} W under load, {figures[1]} W idle" if figures
            else f"{result.test}: {result.power.missing if result.power else ''}")  # fmt: skip
