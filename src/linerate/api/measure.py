"""Measurements from Python: a process of their own, so that this one keeps its CPUs and signals."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from linerate.api.runs import BenchRun, MeasuredRun, SearchRun, load
from linerate.base.errors import UserError
from linerate.ui.screen import complain

Words = str | Sequence[str]
R = TypeVar("R", bound=MeasuredRun)


def bench(
    testbed: str | Path | None = None,
    *,
    suite: str | None = None,
    only: Words | None = None,
    traffic: str | Path | None = None,
    rate: str | float | None = None,
    dut: str | None = None,
    card: str | None = None,
    wire: str | None = None,
    link: str | None = None,
    workers: int | None = None,
    duration: str | float | None = None,
    repeat: int | None = None,
    labels: Mapping[str, str] | None = None,
    latency: bool = False,
    accept_suspect: bool = False,
    wait: bool = False,
    runs: str | Path = "runs",
) -> BenchRun:
    """Measure as `linerate bench` with the options of these names.

    Raises UserError, with the reason, where nothing was measured.
    """
    return _expected(
        BenchRun,
        "bench",
        testbed,
        {
            "suite": suite,
            "only": only,
            "traffic": traffic,
            "rate": rate,
            "dut": dut,
            "card": card,
            "wire": wire,
            "link": link,
            "workers": workers,
            "duration": duration,
            "repeat": repeat,
            "latency": latency,
            "accept-suspect": accept_suspect,
            "wait": wait,
            "runs": runs,
        },
        *_labels(labels),
    )


def search(
    testbed: str | Path | None = None,
    *,
    loadtest: Words | None = None,
    traffic: str | Path | None = None,
    sizes: str | Sequence[int] | None = None,
    goals: Sequence[str] = (),
    precision: str | None = None,
    dut: str | None = None,
    card: str | None = None,
    wire: str | None = None,
    link: str | None = None,
    workers: int | None = None,
    duration: str | float | None = None,
    labels: Mapping[str, str] | None = None,
    wait: bool = False,
    runs: str | Path = "runs",
) -> SearchRun:
    """Search as `linerate search` with the options of these names; `goals` are its `--goal`.

    Raises UserError, with the reason, where nothing was measured.
    """
    return _expected(
        SearchRun,
        "search",
        testbed,
        {
            "loadtest": loadtest,
            "traffic": traffic,
            "sizes": sizes,
            "precision": precision,
            "dut": dut,
            "card": card,
            "wire": wire,
            "link": link,
            "workers": workers,
            "duration": duration,
            "wait": wait,
            "runs": runs,
        },
        *(word for goal in goals for word in ("--goal", goal)),
        *_labels(labels),
    )


def _labels(labels: Mapping[str, str] | None) -> Iterator[str]:
    for key, value in (labels or {}).items():
        yield from ("--label", f"{key}={value}")


def _expected(
    kind: type[R],
    command: str,
    testbed: str | Path | None,
    options: Mapping[str, object],
    *more: str,
) -> R:
    """Run of a command. Raises UserError where it is of another kind, or there is none."""
    place = () if testbed is None else (str(testbed),)
    run = load(_measured((command, *place, *_words(options), *more, "--json")))
    if not isinstance(run, kind):
        raise UserError(f"{run.folder}: nothing was measured: {run.problem or run.status}")
    return run


def _words(options: Mapping[str, object]) -> Iterator[str]:
    for name, value in options.items():
        if value is None or value is False:
            continue
        yield f"--{name}"
        if isinstance(value, list | tuple):
            yield ",".join(map(str, value))
        elif value is not True:
            yield str(value)


def _measured(words: Sequence[str]) -> Path:
    """Folder of the run that a command made; its messages go to standard error as they come."""
    lines: list[str] = []
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        subprocess.Popen(
            [sys.executable, "-m", "linerate", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stderr is not None
        try:
            for line in process.stderr:
                lines.append(line.rstrip("\n"))
                complain(lines[-1])
            process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        out.seek(0)
        text = out.read()
    if not text:
        raise UserError(lines[-1].removeprefix("linerate: ") if lines else "nothing was measured")
    return Path(json.loads(text)["result"]["run"])
