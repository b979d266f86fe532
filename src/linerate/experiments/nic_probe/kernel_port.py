"""Flow rules of a Linux interface: tc's filters and ethtool's ntuple rules, made and removed."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from subprocess import CompletedProcess
from typing import Protocol

from linerate.host.netns.programs import run_in
from linerate.model.kernel_rules import BEHIND, PRIORITY

#: A line of this kind holds the kernel's own words; others are the program's.
_WORDS = re.compile(r"^(?:Error: |RTNETLINK answers: |rmgr: |rxclass: )(.*)$", re.MULTILINE)
_PLAIN = re.compile(r"^(?:Unknown action|Unknown filter|Failed|What is|Cannot).*$", re.MULTILINE)


#: Fields of our ntuple rules, as `ethtool -n` prints it.
_OURS = re.compile(r"\b(198\.1[89]\.|2001:2::|0x88b5|02:00:00:00:00:01)", re.IGNORECASE)


class Commands(Protocol):
    """Where programs run."""

    def __call__(
        self, netns: str, command: list[str], text: str = "", seconds: float = 30.0
    ) -> "CompletedProcess[str]":
        """Run one to its end."""
        ...


class KernelPort:
    """One interface; what is made here is removed here."""

    def __init__(self, interface: str, run: Commands = run_in) -> None:
        """`run` takes a namespace, ours, and a command."""
        self.interface = interface
        self._run = run

    def _tc(self, *words: str, text: str = "", seconds: float = 30.0) -> "CompletedProcess[str]":
        return self._run("", ["tc", *words], text, seconds)

    def driver(self) -> str:
        """Name of its driver, "" where it does not say."""
        printed = self._run("", ["ethtool", "-i", self.interface]).stdout
        found = re.search(r"^driver: (.*)$", printed, re.MULTILINE)
        return found[1].strip() if found else ""

    @contextmanager
    def prepared(self) -> Iterator[int]:
        """Have the place where filters go; yields the number of leftovers that were removed."""
        listed = self._tc("qdisc", "show", "dev", self.interface).stdout
        ours = "clsact" not in listed and "ingress" not in listed
        if ours:
            self._tc("qdisc", "add", "dev", self.interface, "clsact")
        leftovers = len(self._listed()) + len(self._ntuple_leftovers())
        self.clear()
        # A probe that was killed left the queueing discipline too, where no one else uses it.
        ours |= leftovers > 0 and not self._others_filter()
        try:
            yield leftovers
        finally:
            self.clear()
            if ours:
                self._tc("qdisc", "del", "dev", self.interface, "clsact")

    def _others_filter(self) -> bool:
        sides = ("ingress", "egress")
        return any(
            self._tc("filter", "show", "dev", self.interface, side).stdout.strip() for side in sides
        )

    def _ntuple_leftovers(self) -> list[int]:
        """Ids of ntuple rules for the benchmarks' addresses."""
        printed = self._run("", ["ethtool", "-n", self.interface]).stdout
        blocks = re.split(r"^Filter: ", printed, flags=re.MULTILINE)[1:]
        return [int(block.split()[0]) for block in blocks if _OURS.search(block)]

    def clear(self) -> None:
        """Remove every filter of our priorities, and rules for the benchmarks' addresses."""
        for rule in self._ntuple_leftovers():
            self.remove_ntuple(rule)
        for priority in (PRIORITY, BEHIND):
            self._tc(*self._filter("del", priority))

    def _filter(self, verb: str, priority: int) -> list[str]:
        return ["filter", verb, "dev", self.interface, "ingress", "prio", str(priority)]

    def add(self, words: str, priority: int = PRIORITY) -> str | None:
        """Make a filter; returns why not, in one line."""
        done = self._tc(*self._filter("add", priority), "protocol", *words.split())
        return None if done.returncode == 0 else reason(done.stderr)

    def _listed(self, priority: int = PRIORITY) -> list[dict[str, object]]:
        command = ["-j", "-s", "filter", "show", "dev", self.interface, "ingress"]
        printed = self._tc(*command, "prio", str(priority)).stdout
        try:
            rows = json.loads(printed or "[]")
        except ValueError:
            return []
        return [row for row in rows if isinstance(row, dict) and "options" in row]

    def in_hw(self) -> bool | None:
        """Whether the driver has our filter; None: tc does not say."""
        options = [row["options"] for row in self._listed()]
        printed = [one for one in options if isinstance(one, dict)]
        if any(one.get("in_hw") for one in printed):
            return True
        return False if any(one.get("not_in_hw") for one in printed) else None

    def packets(self, priority: int = PRIORITY) -> int:
        """Number of packets by the counters of our filter's actions."""
        found = 0
        for row in self._listed(priority):
            options = row["options"]
            actions = options.get("actions", []) if isinstance(options, dict) else []
            found += sum(int(one.get("stats", {}).get("packets", 0)) for one in actions)
        return found

    def remove(self, priority: int = PRIORITY) -> None:
        """Remove the filters of one priority."""
        self._tc(*self._filter("del", priority))

    def add_many(self, rules: Sequence[str]) -> tuple[float, str | None]:
        """Make filters by one run of tc: how long it took, and why it ended early."""
        head = " ".join(self._filter("add", PRIORITY))
        lines = "".join(f"{head} protocol {words}\n" for words in rules)
        start = time.perf_counter()
        done = self._tc("-b", "-", text=lines, seconds=300.0)
        took = time.perf_counter() - start
        return took, None if done.returncode == 0 else reason(done.stderr)

    def remove_all(self) -> float:
        """Remove what `add_many` made, at once: how long it took."""
        start = time.perf_counter()
        self.remove()
        return time.perf_counter() - start

    def add_ntuple(self, words: str) -> tuple[int | None, str]:
        """Make an ntuple rule: its id, or None and why not."""
        done = self._run("", ["ethtool", "-N", self.interface, "flow-type", *words.split()])
        found = re.search(r"Added rule with ID (\d+)", done.stdout)
        if done.returncode == 0 and found:
            return int(found[1]), ""
        return None, reason(done.stderr or done.stdout)

    def remove_ntuple(self, rule: int) -> None:
        """Remove an ntuple rule."""
        self._run("", ["ethtool", "-N", self.interface, "delete", str(rule)])


def reason(text: str) -> str:
    """One line of what a program printed: the kernel's words before its own."""
    for pattern in (_WORDS, _PLAIN):
        if found := pattern.search(text):
            return (found[1] if pattern.groups else found[0]).strip().rstrip(".")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "no reason given"
