"""Option `--engine`, and the connection to the live engine that it names."""

from typing import Annotated

import typer

from linerate.engine import engine_process
from linerate.engine.engine_process import EngineError
from linerate.engine.telemetry import Telemetry


def _complete_engine(incomplete: str) -> list[str]:
    return [name for name in engine_process.live_engines() if name.startswith(incomplete)]


EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Which one, if several run.",
        metavar="NAME",
        autocompletion=_complete_engine,
    ),
]


def connect(name: str | None) -> Telemetry:
    """Connect to the engine of that name, or to the only one that runs."""
    engines = engine_process.live_engines()
    if not engines:
        raise EngineError("no engine runs")
    if name is None and len(engines) > 1:
        raise EngineError(f"several engines run: say --engine {' or '.join(engines)}")
    chosen = name if name is not None else next(iter(engines))
    if chosen not in engines:
        raise EngineError(f"no engine is called '{chosen}': {', '.join(engines)} runs")
    return Telemetry(engines[chosen])
