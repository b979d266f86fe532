"""All checks of a testbed with a box, in the order in which one makes the next worth it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from linerate.base.errors import SetupError
from linerate.engine.engine_process import EngineError
from linerate.engine.telemetry import TelemetryError
from linerate.experiments import first_packets
from linerate.experiments.box_check import answers, cabling, ports, routing
from linerate.experiments.box_check.wanted import both_sides, prefixes
from linerate.lab import rig
from linerate.lab.box import configuration
from linerate.lab.box.access import Access, BoxError, opened
from linerate.lab.box.asked_box import PROFILE_SECONDS, asked_together, set_up
from linerate.lab.rig import Rig
from linerate.lab.trial import TrialError
from linerate.model.box import texts
from linerate.model.box_setup import Missing, Setup, missing
from linerate.model.findings import Finding
from linerate.model.testbed import Testbed
from linerate.parsers import box_setups
from linerate.parsers.boxes import Asked, BoxKind, Profiled, Question, UnreadableError
from linerate.parsers.boxes import find as find_kind

Tell = Callable[[Finding], None]


@dataclass(frozen=True, slots=True)
class Lines:
    """Configuration that a box lacks, in its own language."""

    language: str
    lines: tuple[str, ...]
    #: Commands of the box's shell that do what the lines say.
    commands: tuple[str, ...]


class BoxCheck:
    """The checks of one testbed, which must have a box."""

    def __init__(self, testbed: Testbed, folder: Path, tell: Tell) -> None:
        """`folder` takes the tester's files; each finding is passed on at once."""
        self._testbed = testbed
        self._folder = folder
        self._tell_one = tell
        self._kind: BoxKind = find_kind(testbed.dut.kind)
        self._asked = asked_of(testbed)
        self.findings: tuple[Finding, ...] = ()
        self.lines = Lines("", (), ())

    @property
    def passed(self) -> bool:
        """Whether nothing stands in the way of trials."""
        return not any(one.state == "fault" for one in self.findings)

    def run(self) -> None:
        """Make all checks; one that can't be made says why."""
        try:
            dut = self._testbed.dut
            with opened(dut.at or "local") as access, set_up(dut, access):
                self._look(access)
        except BoxError as error:
            self._tell(Finding(check="box", state="fault", found=str(error), wanted="answers"))
        if self._reachable:
            self._send_first_packets()

    def _look(self, access: Access) -> None:
        if self._kind.has_shell:
            for finding in answers.login(access):
                self._tell(finding)
        for finding in answers.commands(self._kind, access, self._asked, extra_of(self._testbed)):
            self._tell(finding)
        setup = self._setup(access)
        if setup is not None:
            for finding in ports.ports(self._testbed, setup):
                self._tell(finding)
            lacks = tuple(missing(setup, side) for side in both_sides(self._testbed))
            for finding in routing.routing(setup, lacks):
                self._tell(finding)
            self.lines = _lines(setup, lacks, self._asked.socket)
        self._find_cables(access, setup)

    def _setup(self, access: Access) -> Setup | None:
        """The set-up, where the kind's can be read."""
        kind = box_setups.find(self._testbed.dut.kind)
        if kind is None:
            found = f"interfaces and routes of a box of kind {self._testbed.dut.kind} are not read"
            self._tell(Finding(check="set-up", state="unknown", found=found))
            return None
        return setup_of(kind, access, self._asked, prefixes(self._testbed))

    def _find_cables(self, access: Access, setup: Setup | None) -> None:
        if lacking := rig.missing(self._testbed):
            for one in lacking:
                self._tell(Finding(check="tester", state="fault", found=str(one)))
            return
        try:
            found = cabling.find_cables(
                self._testbed, lambda: self._received(access, setup), self._folder
            )
        except (SetupError, EngineError, TelemetryError) as error:
            self._tell(Finding(check="tester", state="fault", found=str(error)))
            return
        for finding in cabling.findings(self._testbed, found):
            self._tell(finding)

    def _received(self, access: Access, setup: Setup | None) -> Mapping[str, int]:
        """Received packets of all interfaces, or of both ports where no others are known."""
        kind = box_setups.find(self._testbed.dut.kind)
        if setup is not None and kind is not None:
            now = setup_of(kind, access, self._asked).interfaces.values()
            return {one.name: one.rx_packets for one in now if one.rx_packets is not None}
        questions = self._kind.counters(self._asked)
        try:
            counted = self._kind.counted(
                texts(asked_together(self._kind, access, questions, "before")), self._asked
            )
        except UnreadableError as error:
            raise BoxError(f"{access.where}: {error}") from error
        return {
            name: counted.ports[port].get("rx_packets", 0)
            for port, name in self._asked.ports.items()
            if port in counted.ports
        }

    @property
    def _reachable(self) -> bool:
        """Whether first packets can be sent, and counted."""
        needed = ("box", "tester", "counters")
        return not any(one.check in needed and one.state == "fault" for one in self.findings)

    def _send_first_packets(self) -> None:
        loadtest = first_packets.loadtest_of(self._testbed)
        testbed_rig = Rig(self._testbed, lambda name: self._folder / name)
        try:
            with testbed_rig.under_test(loadtest, loadtest.name) as trials:
                found = first_packets.first_packets(
                    trials, self._testbed, loadtest, lambda _progress: None
                )
        except (SetupError, EngineError, TelemetryError, TrialError) as error:
            self._tell(Finding(check="first packets", state="fault", found=str(error)))
            return
        for finding in (*_first(found), *_cables(found)):
            self._tell(finding)

    def _tell(self, finding: Finding) -> None:
        self.findings = (*self.findings, finding)
        self._tell_one(finding)


def asked_of(testbed: Testbed) -> Asked:
    """Whatever of a testbed changes the questions."""
    return Asked(ports=testbed.dut.port_names, socket=testbed.dut.socket or "")


def extra_of(testbed: Testbed) -> tuple[Question, ...]:
    """Questions of the user's."""
    return tuple(
        Question(f"command {number}", command.run)
        for number, command in enumerate(testbed.dut.commands, start=1)
    )


def all_commands(testbed: Testbed) -> tuple[str, ...]:
    """Every command that trials and this check run on a box, in the order of a run."""
    kind, asked = find_kind(testbed.dut.kind), asked_of(testbed)
    setup_kind = box_setups.find(testbed.dut.kind)
    questions = [*answers.asked_of(kind, asked, extra_of(testbed))]
    if setup_kind is not None:
        questions += setup_kind.questions(asked, prefixes(testbed))
    if testbed.dut.profile and isinstance(kind, Profiled):
        questions.append(kind.profile(PROFILE_SECONDS, 0.0))
    if testbed.dut.clear:
        questions += kind.clear(asked)
    asks = dict.fromkeys(question.command for question in questions)
    return (*testbed.dut.setup, *asks, *testbed.dut.teardown)


def setup_of(
    kind: box_setups.SetupKind, access: Access, asked: Asked, networks: Sequence[str] = ()
) -> Setup:
    """Ask for the set-up, with the routes to some networks. Raises BoxError."""
    questions = kind.questions(asked, networks)
    found = asked_together(find_kind(kind.name), access, questions, "facts")
    for question, answer in zip(questions, found, strict=True):
        if question.required and answer.problem:
            raise BoxError(f"{access.where}: `{question.command}`: {answer.problem}")
    return kind.read(texts(found))


def _lines(setup: Setup, lacks: tuple[Missing, ...], socket: str) -> Lines:
    language = configuration.find(setup.configured_by)
    if language is None:
        return Lines("", (), ())
    # Both sides of a hairpin may lack the same.
    lines = tuple(dict.fromkeys(language.lines(lacks)))
    return Lines(language.name, lines, tuple(language.command(line, socket) for line in lines))


def _first(found: first_packets.Crossing) -> Iterator[Finding]:
    for way in found.ways:
        if not way.sent:
            yield Finding(
                check="first packets",
                subject=way.text,
                state="unknown",
                found=f"{way.here} sent nothing: `linerate doctor` says why this host is too busy",
            )
        elif way in found.stuck:
            yield Finding(
                check="first packets",
                subject=way.text,
                state="fault",
                found=f"none of {way.sent:,} came through: {found.ended(way)}",
                wanted="all of them",
            )
        else:
            some = way in found.partial
            yield Finding(
                check="first packets",
                subject=way.text,
                state="note" if some else "ok",
                found=f"{way.received:,} of {way.sent:,} came through",
                advice=found.ended(way) if some else "",
            )


def _cables(found: first_packets.Crossing) -> Iterator[Finding]:
    """Cables between ports of the box, by the first packets that took them."""
    for way in found.ways:
        for one, other in pairwise(way.hops):
            if other.way != "rx" or one.packets is None or other.packets is None:
                continue
            arrived = f"{other.port} received {other.packets:,} of {one.packets:,}"
            if not one.packets:
                found_there = "no first packet was sent there"
                yield Finding(check="cable", subject=one.port, state="unknown", found=found_there)
            elif other.packets < one.packets / 2:
                yield Finding(
                    check="cable",
                    subject=one.port,
                    state="fault",
                    found=arrived,
                    wanted=f"a cable from {one.port} to {other.port}",
                    advice="change the cables, or the order of dut.ports",
                )
            else:
                yield Finding(check="cable", subject=one.port, state="ok", found=arrived)
