"""A guest under QEMU: started, asked to run commands, and always reaped.

Commands go through QEMU's guest agent over a virtio-serial port, faults of cables through QMP.
"""

import base64
import json
import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Emulated, and beside other work on few CPUs: a boot takes a minute, seldom more.
BOOT_SECONDS = 300.0
#: The agent answers from a loop of its own, whatever the guest's commands do.
ANSWER_SECONDS = 60.0
#: `timeout` of coreutils says so that it has ended a command.
TIMED_OUT = 124


class GuestError(Exception):
    """The guest does not start, does not answer, or has ended."""


class CommandError(GuestError):
    """A command in the guest failed."""


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    command: str
    code: int
    out: str
    err: str


class _Channel:
    """Requests and answers, a line of JSON each, over a UNIX socket: QMP and the agent's."""

    def __init__(self, path: Path, deadline: float, alive: "subprocess.Popen[bytes]") -> None:
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        while True:
            try:
                self._socket.connect(str(path))
                break
            except OSError as error:
                if alive.poll() is not None or time.monotonic() > deadline:
                    raise GuestError(f"{path}: {error}") from error
                time.sleep(0.05)
        self._rest = b""

    def close(self) -> None:
        self._socket.close()

    def send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float) -> dict[str, Any]:
        """The next message; raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._rest:
            self._socket.settimeout(max(0.01, deadline - time.monotonic()))
            read = self._socket.recv(1 << 20)
            if not read:
                raise GuestError("QEMU has ended")
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, execute: str, arguments: dict[str, Any] | None = None) -> Any:
        with self._lock:
            self.send({"execute": execute, "arguments": arguments or {}})
            while True:
                answer = self.receive(ANSWER_SECONDS)
                if "error" in answer:
                    raise GuestError(f"{execute}: {answer['error'].get('desc')}")
                if "return" in answer:  # not an event
                    return answer["return"]


class Process:
    """A command that runs in the guest."""

    def __init__(self, guest: "Guest", command: str, pid: int) -> None:
        self.guest, self.command, self.pid = guest, command, pid
        self._done: Done | None = None

    def poll(self) -> Done | None:
        """Its result, once it has ended."""
        if self._done is None:
            status = self.guest.agent("guest-exec-status", pid=self.pid)
            if status["exited"]:
                self._done = Done(
                    self.command,
                    status["exitcode"] if "exitcode" in status else -status.get("signal", 1),
                    _text(status.get("out-data", "")),
                    _text(status.get("err-data", "")),
                )
        return self._done

    def wait(self, seconds: float) -> Done:
        """Raises CommandError when it takes longer; it is killed then."""
        deadline = time.monotonic() + seconds
        while (done := self.poll()) is None:
            if time.monotonic() > deadline:
                self.signal("KILL")
                raise CommandError(f"{self.command}: still runs after {seconds:.0f} s")
            time.sleep(0.1)
        return done

    def signal(self, name: str) -> None:
        """Send it and its children a signal."""
        self.guest.run(f"kill -s {name} -- -{self.pid}")


def _text(data: str) -> str:
    return base64.b64decode(data).decode(errors="replace")


class Guest:
    """A running guest."""

    def __init__(self, qemu: "subprocess.Popen[bytes]", folder: Path) -> None:
        self.qemu, self.folder = qemu, folder
        deadline = time.monotonic() + BOOT_SECONDS
        try:
            self._qmp = _Channel(folder / "qmp", deadline, qemu)
            self._qmp.receive(ANSWER_SECONDS)  # its greeting
            self._qmp.ask("qmp_capabilities")
            self._agent = _Channel(folder / "agent", deadline, qemu)
            self._greet(deadline)
        except (GuestError, OSError) as error:
            raise GuestError(f"the guest does not start: {error}\n{self.console()}") from error

    def close(self) -> None:
        """Hang up."""
        self._qmp.close()
        self._agent.close()

    def _greet(self, deadline: float) -> None:
        """Ask until the agent is there, and skip answers to those that it was not there for."""
        number = 0
        while time.monotonic() < deadline:
            number += 1
            self._agent.send({"execute": "guest-sync", "arguments": {"id": number}})
            try:
                while self._agent.receive(2.0) != {"return": number}:
                    pass
            except TimeoutError:
                if self.qemu.poll() is not None:
                    break
            else:
                return
        raise GuestError("its agent does not answer")

    def agent(self, execute: str, **arguments: Any) -> Any:
        """Ask the guest's agent."""
        return self._agent.ask(execute, arguments)

    def qmp(self, execute: str, **arguments: Any) -> Any:
        """Ask QEMU."""
        return self._qmp.ask(execute, arguments)

    def console(self) -> str:
        """The last lines of the guest's console and of QEMU's own words."""
        lines = []
        for name in ("console.log", "qemu.log"):
            path = self.folder / name
            if path.exists():
                lines += path.read_text(errors="replace").splitlines()[-25:]
        return "\n".join(lines)

    def start(self, command: str) -> Process:
        """Start a shell command in a process group of its own."""
        answer = self.agent(
            "guest-exec",
            path="setsid",
            arg=["sh", "-c", command],
            **{"capture-output": True},
        )
        return Process(self, command, answer["pid"])

    def run(self, command: str, seconds: float = 120, check: bool = True) -> Done:
        """Run a shell command to its end."""
        done = self.start(command).wait(seconds)
        if check and done.code != 0:
            raise CommandError(f"{command}: exit code {done.code}\n{done.out}{done.err}")
        return done

    @contextmanager
    def background(self, command: str, ends_in: float = 30) -> Iterator[Process]:
        """Run beside a test; ended by SIGTERM, then SIGKILL, when the test needs it no longer."""
        process = self.start(command)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.signal("TERM")
                try:
                    process.wait(ends_in)
                except CommandError:
                    process.signal("KILL")

    def write(self, path: str, text: str) -> None:
        """Write a file in the guest."""
        handle = self.agent("guest-file-open", path=path, mode="w")
        try:
            data = text.encode()
            for start in range(0, len(data), 48_000):
                piece = base64.b64encode(data[start : start + 48_000]).decode()
                self.agent("guest-file-write", handle=handle, **{"buf-b64": piece})
        finally:
            self.agent("guest-file-close", handle=handle)

    def read(self, path: str) -> str:
        """Text of a file in the guest."""
        return self.run(f"cat {shlex.quote(path)}").out

    def set_link(self, name: str, up: bool) -> None:
        """Pull the cable of a NIC, by the id of its device or netdev, or plug it in."""
        self.qmp("set_link", name=name, up=up)

    @contextmanager
    def unplugged(self, name: str) -> Iterator[None]:
        """Without the cable of a NIC."""
        self.set_link(name, up=False)
        try:
            yield
        finally:
            self.set_link(name, up=True)


def _channels(folder: Path) -> list[str]:
    return [
        *("-chardev", f"socket,id=agent,path={folder}/agent,server=on,wait=off"),
        *("-device", "virtio-serial-pci"),
        *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
        *("-qmp", f"unix:{folder}/qmp,server=on,wait=off"),
        *("-serial", f"file:{folder}/console.log", "-monitor", "none", "-display", "none"),
    ]


@dataclass(frozen=True)
class Machine:
    """Disks, memory and CPUs of a guest, and the QEMU that runs it."""

    #: QEMU's command, without arguments.
    qemu: tuple[str, ...]
    #: Folder of `build-aux/nics-image`: root, kernel and initrd.
    image: Path
    #: The second disk, with `tests/nics/inside`.
    tree: Path
    accel: str = "tcg"
    memory_megabytes: int = 4096
    vcpus: int = 4
    kernel_words: str = ""

    def words(self, devices: Sequence[str], folder: Path) -> list[str]:
        """QEMU's command with these NICs; channels are in the folder."""
        accel_words = {"tcg": "tcg,thread=multi,tb-size=256"}.get(self.accel, self.accel)
        kernel_words = f"console=ttyS0 panic=-1 quiet {self.kernel_words}"
        return [
            *self.qemu,
            *("-nodefaults", "-no-user-config", "-no-reboot", "-accel", accel_words),
            # QEMU 10 emulates an x2APIC, and behind an IOMMU a CPU's timer once never fired again.
            *("-cpu", "max,-x2apic"),
            *("-machine", "q35,kernel-irqchip=split" if self.accel == "kvm" else "q35"),
            *("-m", str(self.memory_megabytes), "-smp", str(self.vcpus)),
            *("-kernel", str(self.image / "vmlinuz"), "-initrd", str(self.image / "initrd.img")),
            *("-append", f"root=/dev/vda rw init=/usr/sbin/nics-init {kernel_words}"),
            # Written to a file that goes with QEMU.
            *("-drive", f"file={self.image}/root.img,format=raw,if=virtio,snapshot=on"),
            *("-drive", f"file={self.tree},format=raw,if=virtio,readonly=on"),
            *devices,
            *_channels(folder),
        ]


@contextmanager
def running(machine: Machine, folder: Path, devices: Sequence[str]) -> Iterator[Guest]:
    """Boot a guest with these NICs."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [
        # QEMU goes when its parent does, however that ends; the guest lets the host's own work pass.
        *("setpriv", "--pdeathsig", "KILL", "nice", "-n", "10"),
        *machine.words(devices, folder),
    ]
    (folder / "command").write_text(shlex.join(words) + "\n")
    with (
        (folder / "qemu.log").open("wb") as log,
        subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
    ):
        try:
            guest = Guest(process, folder)
            try:
                yield guest
            finally:
                guest.close()
        finally:
            process.kill()
            process.wait()
