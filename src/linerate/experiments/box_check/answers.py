"""Login, privileges, clock, and each command of a kind of box."""

import re
import time
from collections.abc import Iterator, Sequence

from linerate.lab.box.access import Access, BoxError
from linerate.lab.box.asked_box import asked_together
from linerate.model.box import Answer, texts
from linerate.model.findings import Finding
from linerate.parsers.boxes import Asked, BoxKind, Question, UnreadableError

#: A larger difference of both clocks makes it hard to find a trial in the box's own logs.
SKEW_SECONDS = 2.0
#: Longest that a login may take: ssh gives up sooner.
LOGIN_SECONDS = 30.0
_LOGIN = "id -u; uname -srm; date +%s.%N"
_TIME = re.compile(r"\d{9,11}(?:\.\d{1,9})?")
#: Packages that have a command, where it is not named after its package.
_PACKAGES = {"ip": "iproute2", "tc": "iproute2", "nft": "nftables", "bridge": "iproute2"}


def login(access: Access) -> tuple[Finding, ...]:
    """Log in to a box that has a shell. Raises BoxError."""
    began = time.time()
    ran = access.run(_LOGIN, LOGIN_SECONDS)
    took = time.time() - began
    if not ran.text.strip():
        lines = ran.error.strip().splitlines()
        raise BoxError(f"{access.where}: {lines[-1] if lines else 'no shell answers there'}")
    user, system, clock = [*ran.text.splitlines(), "", "", ""][:3]
    found = f"{access.where}: {system or 'a shell'}, answered in {1e3 * took:.0f} ms"
    return (
        Finding(check="login", state="ok", found=found),
        _privileges(user.strip()),
        _clock(clock.strip(), began + took / 2, took),
    )


def _privileges(user: str) -> Finding:
    if user == "0":
        return Finding(check="privileges", state="ok", found="root")
    found = f"user {user}, not root" if user.isdecimal() else "unknown"
    return Finding(
        check="privileges",
        state="note",
        found=found,
        wanted="root",
        advice="some counters (nft, ethtool -S, VPP's socket) answer root alone: log in as root, "
        "or let this user read them",
    )


def _clock(text: str, ours: float, took: float) -> Finding:
    if not _TIME.fullmatch(text):
        return Finding(check="clock", state="unknown", found="the box's `date` has no such format")
    skew = float(text) - ours
    found = f"{skew:+.3f} s ± {took / 2:.3f} s to ours"
    if abs(skew) <= SKEW_SECONDS + took / 2:
        return Finding(check="clock", state="ok", found=found)
    return Finding(
        check="clock",
        state="note",
        found=found,
        wanted=f"within {SKEW_SECONDS:.0f} s",
        fix=("timedatectl set-ntp true",),
        advice="answers are kept with the lab's time; the box's own logs and dmesg have its own",
    )


def asked_of(kind: BoxKind, asked: Asked, extra: Sequence[Question] = ()) -> tuple[Question, ...]:
    """All questions that trials ask, each once."""
    every = (*kind.facts(asked), *kind.counters(asked), *kind.at_load(asked), *extra)
    return tuple(dict.fromkeys(every))


def commands(
    kind: BoxKind, access: Access, asked: Asked, extra: Sequence[Question]
) -> Iterator[Finding]:
    """Each command, all that are answered together, and the counters in them. Raises BoxError."""
    counters = (*kind.counters(asked), *extra)
    others = [one for one in asked_of(kind, asked) if one not in counters]
    # Each by itself, so that the slowest is known.
    answers = [
        answer
        for question in (*counters, *others)
        for answer in asked_together(kind, access, (question,), "before")
    ]
    for question, answer in zip((*counters, *others), answers, strict=True):
        yield _command(question, answer, question in counters)
    if answered := [answer for answer in answers if not answer.problem]:
        yield _all_answered(answered, len(answers))
    yield _counters(kind, answers[: len(counters)], asked)


def _all_answered(answered: Sequence[Answer], asked: int) -> Finding:
    slowest = max(answered, key=lambda answer: answer.took_us)
    count = f"all {asked}" if len(answered) == asked else f"{len(answered)} of {asked}"
    found = f"{count} answered; the slowest `{slowest.question}`, {slowest.took_us / 1e3:.0f} ms"
    return Finding(check="commands", state="ok", found=found)


def _command(question: Question, answer: Answer, counts: bool) -> Finding:
    if not answer.problem:
        found = f"{len(answer.text):,} characters" if answer.text else "nothing, which may be right"
        return Finding(check="command", subject=question.name, state="ok", found=found)
    program = question.command.split()[0]
    lost = "its counters are unknown in trials" if counts else "its facts are unknown in reports"
    return Finding(
        check="command",
        subject=question.name,
        state="fault" if question.required else "note",
        found=answer.problem,
        wanted=f"an answer to `{question.command}`" if question.required else "",
        advice=f"{lost}{_remedy(program, answer.problem)}",
    )


def _remedy(program: str, problem: str) -> str:
    if "not found" in problem:
        return f"; on the box: apt-get install {_PACKAGES.get(program, program)}"
    if re.search(r"not permitted|denied", problem, re.IGNORECASE):
        return "; log in as root"
    return ""


def _counters(kind: BoxKind, answers: Sequence[Answer], asked: Asked) -> Finding:
    try:
        counted = kind.counted(texts(answers), asked)
    except UnreadableError as error:
        return Finding(
            check="counters",
            state="fault",
            found=str(error),
            wanted="packets of both ports",
            advice="correct dut.ports: without the ports' counters no trial can be counted",
        )
    lost = sum(packets for packets in counted.losses.values() if packets > 0)
    found = f"{len(counted.losses)} places of loss, with {lost:,} packets since they began to count"
    return Finding(check="counters", state="ok", found=found)
