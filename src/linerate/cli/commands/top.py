"""`linerate top`: what running engines do, live in a terminal."""

import time
from typing import Annotated

import typer

from linerate.base.published import printed
from linerate.cli.completion import one_of
from linerate.cli.durations import as_seconds
from linerate.cli.usage import mistaken
from linerate.engine import engine_process as engines
from linerate.engine.engine_process import EngineError
from linerate.engine.snapshot import Look, look
from linerate.ui.screen import is_terminal, say
from linerate.ui.top.change import Change
from linerate.ui.top.plain import document, heading, text_table
from linerate.ui.top.views import VIEWS

#: More often than this shows nothing but the noise of single walks.
SECONDS_MIN = 0.1
FLOWS = 20


def _complete_engine(incomplete: str) -> list[str]:
    return [name for name in engines.engine_sockets()[0] if name.startswith(incomplete)]


def top_command(
    name: Annotated[
        str | None,
        typer.Option(
            "--engine",
            help="Begin with this one, if several run.",
            metavar="NAME",
            autocompletion=_complete_engine,
        ),
    ] = None,
    view: Annotated[
        str,
        typer.Option(help=f"Begin with: {', '.join(VIEWS)}.", autocompletion=one_of(VIEWS)),
    ] = "nodes",
    interval: Annotated[
        float,
        typer.Option(help="How often to look.", parser=as_seconds, metavar="1s"),
    ] = "1s",  # type: ignore[assignment]  # the parser makes a number of it
    once: Annotated[
        bool, typer.Option("--once", help="Print one table of one interval, and end.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all tables of one interval as JSON, and end.")
    ] = False,
) -> None:
    """Watch the engines of this host: nodes, ports, losses, rings, flows, streams."""
    if view not in VIEWS:
        mistaken(f"--view: there is no '{view}': {', '.join(VIEWS)}")
    if interval < SECONDS_MIN:
        mistaken(f"--interval: expected {SECONDS_MIN} s or more")
    if once or as_json:
        change = _sample(name, interval)
        if as_json:
            say(printed("top", document(change)))
        else:
            say("\n".join([*heading(change), "", *text_table(VIEWS[view], change)]))
        return
    if not is_terminal():
        mistaken("this is no terminal: --once prints a table, --json all of them")
    # Other commands need not wait for it.
    from linerate.ui.top.app import TopApp  # noqa: PLC0415

    TopApp(lambda flows: look(flows=flows), interval, view, name).run()


def _sample(name: str | None, seconds: float) -> Change:
    """Look twice at one engine."""
    names = (name,) if name else ()
    first = look(names)
    chosen = _chosen(first, name)
    time.sleep(seconds)
    second = look((chosen,), flows=FLOWS)
    if chosen not in second.snapshots:
        raise EngineError(second.silent.get(chosen, f"engine {chosen} ended"))
    return Change(second.snapshots[chosen], first.snapshots[chosen])


def _chosen(seen: Look, name: str | None) -> str:
    """The engine that was asked for, or the only one."""
    found = sorted(seen.snapshots)
    if len(found) == 1:
        return found[0]
    if found:
        raise EngineError(f"several engines run: say --engine {' or '.join(found)}")
    if seen.silent:
        raise EngineError("; ".join(seen.silent.values()))
    if seen.refused and name is None:
        raise EngineError(f"{seen.refused[0]}: permission denied; no other engine runs")
    raise EngineError(f"no engine is called '{name}'" if name else "no engine runs")
