"""A running box: asked before a trial, within its load, and after its last packet."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from linerate.lab.box.access import Access, BoxError, opened
from linerate.lab.box.asking import ask, ask_each
from linerate.lab.box.continuity import BrokenError, continued
from linerate.model.box import Answer, BoxAnswers, Moment, texts
from linerate.model.box_trace import TracedPacket
from linerate.model.ledger import Entry, Kind, PacketLedger
from linerate.model.measurement import Reading, WorkerReading
from linerate.model.testbed import Dut
from linerate.parsers.boxes import (
    Asked,
    BoxKind,
    Counted,
    Profiled,
    Question,
    TracingKind,
    UnreadableError,
    commands,
    find,
)

#: Longest wait for the answers of a moment.
ASK_SECONDS = 20.0
SETUP_SECONDS = 120.0
#: The window within the load begins and ends this far inside it; a shorter load has none.
MARGIN_SECONDS = 0.1
WINDOW_SECONDS_MIN = 0.5
#: A trial that was asked in time ends no earlier than this share of the asking's own time after it.
LATE_SHARE = 1.5
#: Samples are taken for so long within a load, half of it of drops; a shorter one than these
#: together has none. Their reading waits until it is over.
PROFILE_SECONDS = 4.0
PROFILE_SECONDS_MIN = 1.0
PROFILE_SPARE_SECONDS = 1.0
PROFILE_READ_SECONDS = 60.0


class AskedBox:
    """Counters of a box as `Running` wants them, and its answers as they came."""

    def __init__(
        self,
        dut: Dut,
        access: Access,
        facts: tuple[Answer, ...] | None = (),
        tester_cpus: tuple[int, ...] = (),
    ) -> None:
        """`facts` are asked before the first trial where they are None."""
        self._kind: BoxKind = find(dut.kind)
        self._access = access
        self._asked = Asked(
            ports=dut.port_names,
            socket=dut.socket or "",
            commands=dut.commands,
        )
        names = tuple(dut.port_names)
        ends = dict.fromkeys((*names[:1], *names[-1:]))
        self._macs = dict(zip(ends, dut.macs or (), strict=False))
        self._extra = commands.questions(self._asked)
        self._clear = dut.clear
        self._profile = dut.profile
        self._facts = facts
        self._tester_cpus = tester_cpus
        self._load: _Load | None = None
        self._last: Counted | None = None

    def readings(self, _tsc_hz: int) -> Reading:
        """All counters now. Raises BoxError before a trial; after one, what is missing is noted."""
        load, self._load = self._load, None
        if load is None:
            if self._facts is None:
                self._facts = self._ask(self._kind.facts(self._asked), "facts")
            counted, answers = self._counted("before")
            self._last = counted
            box = self._box((*self._facts, *answers), counted.doubts)
            return self._reading(counted, box)
        at_load, doubts = load.ended()
        assert self._last is not None
        questions = self._questions()
        answered: tuple[Answer, ...] = ()
        try:
            answered = self._ask(questions, "after")
            later = continued(self._last, self._read(questions, answered))
        except (BoxError, BrokenError) as error:
            problem = str(error).removeprefix(f"{self._access.where}: ")
            box = self._box((*at_load, *answered), doubts).model_copy(
                update={"problems": (f"{self._access.where}: {problem}",)}
            )
            return self._reading(self._last, box)
        counted = later.counted
        new = tuple(one for one in counted.doubts if one not in self._last.doubts)
        box = self._box((*at_load, *answered), (*doubts, *new, *later.doubts))
        return self._reading(counted, box)

    def workers(self, _tsc_hz: int) -> tuple[WorkerReading, ...]:
        """None: its time is in its answers."""
        return ()

    def ledger(self) -> PacketLedger:
        """Nothing: asking takes a while."""
        return PacketLedger()

    def load_begins(self, duration_us: int) -> None:
        """Ask it beside the trial, at the begin and the end of a window within the load."""
        questions = self._kind.at_load(self._asked)
        clear = self._kind.clear(self._asked) if self._clear else ()
        self._load = _Load(
            lambda what: self._ask(what, "load"), clear, questions, duration_us / 1e6
        )
        seconds = min(PROFILE_SECONDS, duration_us / 1e6 - PROFILE_SPARE_SECONDS)
        if self._profile and isinstance(self._kind, Profiled) and seconds >= PROFILE_SECONDS_MIN:
            rest = duration_us / 1e6 - MARGIN_SECONDS - seconds
            self._load.sample(
                lambda what: ask(
                    self._access, what, "profile", duration_us / 1e6 + PROFILE_READ_SECONDS
                ),
                self._kind.profile(seconds, rest),
            )

    @contextmanager
    def tracing(self, packets: int) -> Iterator["Trace"]:
        """Let it record packets from when that is begun; it forgets them on exit.

        Raises BoxError where boxes of its kind can't.
        """
        kind = self._kind
        if not isinstance(kind, TracingKind):
            raise BoxError(
                f"{self._access.where}: a box of kind {kind.name} records no packets' ways"
            )
        trace = Trace(kind, self._access, self._asked, packets)
        try:
            yield trace
        finally:
            with contextlib.suppress(BoxError):
                trace.forget()

    def _counted(self, moment: Moment) -> tuple[Counted, tuple[Answer, ...]]:
        questions = self._questions()
        answers = self._ask(questions, moment)
        return self._read(questions, answers), answers

    def _questions(self) -> tuple[Question, ...]:
        return (*self._kind.counters(self._asked), *self._extra)

    def _read(self, questions: Sequence[Question], answers: Sequence[Answer]) -> Counted:
        """Counters in answers. Raises BoxError where a required one is missing."""
        for question, answer in zip(questions, answers, strict=True):
            if question.required and answer.problem:
                raise BoxError(f"{self._access.where}: `{question.command}`: {answer.problem}")
        try:
            counted = self._kind.counted(texts(answers), self._asked)
            return counted.joined(commands.read(texts(answers), self._asked))
        except UnreadableError as error:
            raise BoxError(f"{self._access.where}: {error}") from error

    def _ask(self, questions: Sequence[Question], moment: Moment) -> tuple[Answer, ...]:
        return asked_together(self._kind, self._access, questions, moment)

    def _box(self, answers: tuple[Answer, ...], doubts: tuple[str, ...]) -> BoxAnswers:
        return BoxAnswers(
            kind=self._kind.name,
            at=self._access.where,
            ports=dict(self._asked.ports),
            macs=self._macs,
            tester_cpus=self._tester_cpus,
            answers=answers,
            doubts=doubts,
        )

    def _reading(self, counted: Counted, box: BoxAnswers) -> Reading:
        kinds: tuple[tuple[Kind, dict[str, int]], ...] = (
            ("loss", counted.losses),
            ("consumed", counted.consumed),
        )
        entries = tuple(
            Entry(place=place, kind=kind, packets=packets)
            for kind, places in kinds
            for place, packets in places.items()
        )
        return Reading(
            ledger=PacketLedger(entries=entries), workers=(), ports=counted.ports, box=box
        )


class Trace:
    """Packets' ways that a box records on demand."""

    def __init__(self, kind: TracingKind, access: Access, asked: Asked, packets: int) -> None:
        self._kind = kind
        self._access = access
        self._asked = asked
        self._packets = packets

    def begin(self) -> None:
        """Record the next packets of each input. Raises BoxError."""
        self._ask(self._kind.trace_begin(self._asked, self._packets))

    def read(self) -> tuple[TracedPacket, ...]:
        """All that was recorded. Raises BoxError."""
        (answer,) = self._ask((self._kind.trace_read(self._asked, self._packets),))
        return self._kind.traced(answer.text, self._asked)

    def forget(self) -> None:
        """Let it free what it recorded. Raises BoxError."""
        self._ask(self._kind.trace_end(self._asked))

    def _ask(self, questions: Sequence[Question]) -> tuple[Answer, ...]:
        answers = ask(self._access, questions, "load", ASK_SECONDS)
        for question, answer in zip(questions, answers, strict=True):
            if question.required and answer.problem:
                raise BoxError(f"{self._access.where}: `{question.name}`: {answer.problem}")
        return answers


def asked_together(
    kind: BoxKind, access: Access, questions: Sequence[Question], moment: Moment
) -> tuple[Answer, ...]:
    """Ask in the way that a kind of box understands. Raises BoxError."""
    asking = ask if kind.has_shell else ask_each
    return asking(access, questions, moment, ASK_SECONDS)


class _Load:
    """A thread that asks at two moments of a load, so that the trial waits for nothing."""

    def __init__(
        self,
        ask_all: Callable[[Sequence[Question]], tuple[Answer, ...]],
        clear: tuple[Question, ...],
        questions: tuple[Question, ...],
        seconds: float,
    ) -> None:
        self._ask = ask_all
        self._clear = clear
        self._questions = questions
        self._ends = time.monotonic() + seconds
        self._answers: list[Answer] = []
        self._doubts: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="box at load", daemon=True)
        self._sampler: threading.Thread | None = None
        if questions and seconds >= WINDOW_SECONDS_MIN:
            self._thread.start()

    def sample(
        self, ask_all: Callable[[Sequence[Question]], tuple[Answer, ...]], profile: Question
    ) -> None:
        """Ask for a profile beside the other questions."""
        self._sampler = threading.Thread(
            target=self._sample, args=(ask_all, profile), name="box profile", daemon=True
        )
        self._sampler.start()

    def ended(self) -> tuple[tuple[Answer, ...], tuple[str, ...]]:
        """Answers that came, and why others did not, once the load is over."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(2 * ASK_SECONDS)
        if self._sampler is not None:
            self._sampler.join(PROFILE_READ_SECONDS)
        return tuple(self._answers), tuple(self._doubts)

    def _sample(
        self, ask_all: Callable[[Sequence[Question]], tuple[Answer, ...]], profile: Question
    ) -> None:
        self._over.wait(MARGIN_SECONDS)
        try:
            answers = ask_all((profile,))
            self._answers += answers
            self._doubts += [f"profile: {one.problem}" for one in answers if one.problem]
        except BoxError as error:
            self._doubts.append(str(error))

    def _run(self) -> None:
        try:
            self._over.wait(MARGIN_SECONDS)
            if self._clear:
                self._ask(self._clear)
            began = time.monotonic()
            self._answers += self._ask(self._questions)
            took = time.monotonic() - began
            latest = self._ends - MARGIN_SECONDS - LATE_SHARE * took
            self._over.wait(max(0.0, latest - time.monotonic()))
            again = self._ask(self._questions)
            if self._over.is_set() or time.monotonic() > self._ends:
                self._doubts.append(_too_short(time.monotonic() - began))
                return
            self._answers += again
        except BoxError as error:
            self._doubts.append(str(error))


def _too_short(seconds: float) -> str:
    """Why there is no window within the load, and the load that has one."""
    enough = math.ceil(2 * MARGIN_SECONDS + LATE_SHARE * seconds)
    return (
        "the load was over before the box had answered twice: what its CPUs did is unknown; "
        f"--duration {enough}s may do"
    )


@contextmanager
def running(dut: Dut, tester_cpus: tuple[int, ...]) -> Iterator[AskedBox]:
    """Open the way to a box, set it up, ask what it is; it is torn down on exit, whatever happens.

    Raises BoxError.
    """
    kind = find(dut.kind)
    where = dut.at or "local"
    with opened(where) as access, set_up(dut, access):
        asked = Asked(ports=dut.port_names, socket=dut.socket or "")
        facts = asked_together(kind, access, kind.facts(asked), "facts")
        same_host = not where.startswith("ssh://")
        yield AskedBox(dut, access, facts, tester_cpus if same_host else ())


@contextmanager
def set_up(dut: Dut, access: Access) -> Iterator[None]:
    """Run the user's commands; those of `teardown` on exit, whatever happens. Raises BoxError."""
    try:
        for command in dut.setup:
            _done(access, command)
        yield
    finally:
        for command in dut.teardown:
            # The first that fails takes the others nothing away.
            with contextlib.suppress(BoxError):
                access.run(command, SETUP_SECONDS)


def _done(access: Access, command: str) -> None:
    ran = access.run(command, SETUP_SECONDS)
    if ran.status:
        lines = [line for line in (ran.error or ran.text).splitlines() if line.strip()]
        why = lines[-1].strip()[:200] if lines else f"it ended with status {ran.status}"
        raise BoxError(f"{access.where}: setup: `{command}`: {why}")
