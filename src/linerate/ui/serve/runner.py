"""Benches that are started from a page: one at a time, as `linerate bench` would be by hand."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict, Field

from linerate.base.drivers import INTERFACE_DRIVERS
from linerate.model.suites import SUITES, select
from linerate.model.testbed import (
    ENGINE_MODES,
    RX_MODES,
    STARTED,
    TESTERS,
    WIRES,
    Testbed,
    with_options,
)

#: Time in which a stopped bench has measured its last trial.
STOP_SECONDS = 20.0
OUTPUT_BYTES = 4_000

#: No word begins with a dash, and none has a blank: it can't become an option.
_WORD = r"^[A-Za-z0-9][A-Za-z0-9=,.:@_-]*$"
#: A share of the line, a factor, packets or bits a second.
_RATE = r"^[0-9][0-9.]*(%|[A-Za-z]{1,5})?$"
Word = Field(default=None, max_length=80, pattern=_WORD)


class Order(BaseModel):
    """A bench to run; each field is the option of `linerate bench` of that name."""

    model_config = ConfigDict(extra="forbid")

    suite: Literal[tuple(SUITES)] = "standard"  # type: ignore[valid-type]
    only: str | None = Word
    duration_seconds: float = Field(default=5.0, ge=0.05, le=3600)
    dut: Literal[(*ENGINE_MODES, *STARTED)] | None = None  # type: ignore[valid-type]
    card: str | None = Word
    workers: int | None = Field(default=None, ge=1, le=16)
    rx_mode: Literal[RX_MODES] | None = None  # type: ignore[valid-type]
    wire: Literal[WIRES] | None = None  # type: ignore[valid-type]
    link: str | None = Word
    traffic: str | None = Word
    rate: str | None = Field(
        default=None, max_length=20, pattern=r"^[0-9][0-9.]*(%|[A-Za-z]{1,5})?$"
    )
    directions: Literal[1, 2] | None = None
    repeat: int | None = Field(default=None, ge=1, le=100)
    tester: Literal[TESTERS] | None = None  # type: ignore[valid-type]
    driver: Literal[tuple(INTERFACE_DRIVERS)] | None = None  # type: ignore[valid-type]
    dut_driver: Literal[tuple(INTERFACE_DRIVERS)] | None = None  # type: ignore[valid-type]
    latency: bool = False
    accept_suspect: bool = False

    def check(self) -> None:
        """Refuse what the command would refuse. Raises ValueError, TestbedError."""
        with_options(
            Testbed(), self.dut, self.card, self.workers, self.rx_mode, self.wire, self.tester,
            self.driver, self.dut_driver, self.link,
        )  # fmt: skip
        select(self.suite, self.only)

    def words(self) -> list[str]:
        """As words of the command line."""
        given = {
            "suite": self.suite,
            "only": self.only,
            "duration": f"{self.duration_seconds:g}s",
            "dut": self.dut,
            "card": self.card,
            "workers": self.workers,
            "rx-mode": self.rx_mode,
            "wire": self.wire,
            "link": self.link,
            "traffic": self.traffic,
            "rate": self.rate,
            "directions": self.directions,
            "repeat": self.repeat,
            "tester": self.tester,
            "driver": self.driver,
            "dut-driver": self.dut_driver,
        }
        chosen = {"latency": self.latency, "accept-suspect": self.accept_suspect}
        return [
            *(f"--{name}={value}" for name, value in given.items() if value is not None),
            *(f"--{name}" for name, wanted in chosen.items() if wanted),
        ]


class BusyError(Exception):
    """A bench runs already."""


class State(BaseModel):
    """Result of the last bench that was started here."""

    running: bool = False
    pid: int | None = None
    command: list[str] = []
    started: float | None = None
    exit_code: int | None = None
    #: Its last output, if it failed.
    output: str = ""


class Runner:
    """Starts and stops them. Made before the server gives way to others: they don't."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._lock = threading.Lock()
        self._bench: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._order: list[str] = []
        self._started = 0.0
        # Priority and CPUs are a thread's own, and a bench has those of the one that starts it.
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")
        self._starter.submit(os.getpid).result()

    def start(self, order: Order) -> State:
        """Start a bench. Raises BusyError, OSError."""
        with self._lock:
            if self._bench is not None and self._bench.poll() is None:
                raise BusyError(f"a bench runs already: {' '.join(self._order)}")
            self._forget()
            self._order = ["linerate", "bench", *order.words()]
            self._started = time.time()
            self._output = tempfile.TemporaryFile()  # noqa: SIM115 (until the next one)
            self._bench = self._starter.submit(self._spawn, order).result()
        return self.state()

    def _spawn(self, order: Order) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "linerate", "bench", *order.words()]
        # Not in a session of its own: a run's goes before all others, and where it takes every
        # CPU the server would not be there to stop it.
        return subprocess.Popen(
            [*words, f"--runs={self._runs}"],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )

    def stop(self) -> State:
        """Ask the bench to stop, as Ctrl-C does: what it measured is kept."""
        # Not behind who starts one: a bench that is there is one that can be stopped.
        bench = self._bench
        if bench is not None and bench.poll() is None:
            bench.send_signal(signal.SIGINT)
        return self._state_of(bench)

    def state(self) -> State:
        """Say what runs, or what ran last."""
        with self._lock:
            state = self._state_of(self._bench)
            output = self._last_output() if state.exit_code else ""
            return state.model_copy(update={"output": output})

    def _state_of(self, bench: subprocess.Popen[bytes] | None) -> State:
        if bench is None:
            return State()
        code = bench.poll()
        return State(
            running=code is None,
            pid=bench.pid,
            command=self._order,
            started=self._started,
            exit_code=code,
        )

    def _last_output(self) -> str:
        """The end of what the bench printed."""
        if self._output is None:
            return ""
        end = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, end - OUTPUT_BYTES))
        return self._output.read().decode("utf-8", "replace")

    def close(self) -> None:
        """The server ends: so does its bench."""
        self.stop()
        if self._bench is not None:
            try:
                self._bench.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._bench.pid, signal.SIGKILL)
                self._bench.wait()
        self._forget()
        self._starter.shutdown()

    def _forget(self) -> None:
        if self._output is not None:
            self._output.close()
            self._output = None
