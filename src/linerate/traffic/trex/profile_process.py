"""The process that another's TRex profile runs in, and the document that it is believed to be."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from linerate.base import ownership
from linerate.base.frozen_model import StrictModel
from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MAX
from linerate.base.validation import mistake
from linerate.traffic.offered import STREAMS_MAX
from linerate.traffic.profile import TrafficError

RUNNER = Path(__file__).parent / "shim" / "runner.py"
#: Largest document; a profile with a larger one is refused.
DOCUMENT_BYTES = 64 << 20
#: The user without rights.
NOBODY = 65534

Word = Annotated[str, Field(min_length=1, max_length=40)]
Count = Annotated[int, Field(ge=0, le=1 << 30)]
Value = Annotated[int, Field(ge=0, le=(1 << 64) - 1)]
RateKind = Literal["pps", "l1_bps", "l2_bps", "percent"]
Offset = Annotated[int, Field(ge=0, le=FRAME_BYTES_MAX - FCS_BYTES)]


class Variable(StrictModel):
    """STLVmFlowVar and STLVmFlowVarRepeatableRandom."""

    type: Literal["variable"]
    name: Word
    size: Literal[1, 2, 4, 8]
    op: Literal["inc", "dec", "random"]
    step: Annotated[int, Field(ge=1, le=(1 << 63) - 1)]
    min: Value = 0
    max: Value | None = None
    start: Value | None = None
    values: tuple[Value, ...] | None = Field(default=None, min_length=1, max_length=65536)
    limit: Count | None = Field(default=None, ge=1)
    seed: int | None = None
    next_var: Word | None = None


class Tuples(StrictModel):
    """STLVmTupleGen."""

    type: Literal["tuple"]
    name: Word
    ip_min: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]
    ip_max: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]
    port_min: Annotated[int, Field(ge=0, le=65535)]
    port_max: Annotated[int, Field(ge=0, le=65535)]
    flows: Annotated[int, Field(ge=0, le=(1 << 32) - 1)]


class Write(StrictModel):
    """STLVmWrFlowVar and STLVmWrMaskFlowVar."""

    type: Literal["write"]
    variable: Word
    offset: Offset
    add: Annotated[int, Field(ge=-(1 << 52), le=1 << 52)]
    big: bool
    size: Literal[1, 2, 4] | None = None
    mask: Annotated[int, Field(ge=0, le=(1 << 32) - 1)] | None = None
    shift: Annotated[int, Field(ge=-31, le=31)] = 0


class FixIpv4(StrictModel):
    """STLVmFixIpv4."""

    type: Literal["fix_ipv4"]
    offset: Offset


class FixL4(StrictModel):
    """STLVmFixChecksumHw and STLVmFixIcmpv6."""

    type: Literal["fix_l4"]
    l3: Offset
    l4: Offset
    protocol: Literal["udp", "tcp", "ip", "icmp6"]


class Trim(StrictModel):
    """STLVmTrimPktSize."""

    type: Literal["trim"]
    variable: Word


Instruction = Annotated[
    Variable | Tuples | Write | FixIpv4 | FixL4 | Trim, Field(discriminator="type")
]


class Mode(StrictModel):
    """STLTXCont, STLTXSingleBurst and STLTXMultiBurst."""

    type: Literal["continuous", "bursts"]
    rate: dict[RateKind, Annotated[float, Field(gt=0, le=1e13)]] = Field(min_length=1, max_length=1)
    frames: Annotated[int, Field(ge=1, le=1 << 30)] = 1
    count: Annotated[int, Field(ge=1, le=1 << 30)] = 1
    gap_us: Annotated[float, Field(ge=0, le=1e12)] = 0


class Checksum(StrictModel):
    """A transport checksum that counts the payload."""

    l3_offset: Offset
    l3_bytes: Annotated[int, Field(ge=20, le=1024)]
    protocol: Literal["udp", "tcp"]


class TrexStream(StrictModel):
    """STLStream."""

    name: Annotated[str, Field(max_length=200)] | None
    packet: Annotated[str, Field(max_length=1 << 15)]
    own_src: bool = True
    own_dst: bool = True
    checksums: tuple[Checksum, ...] = ()
    vm: tuple[Instruction, ...] = ()
    cache: Count | None = None
    payload: Offset | None = None
    mode: Mode
    enabled: bool = True
    self_start: bool = True
    start_us: Annotated[float, Field(ge=0, le=1e12)] = 0
    next: str | None = None
    action_count: Count = 0
    seed: Annotated[int, Field(ge=0, le=(1 << 32) - 1)] = 0
    dummy: bool = False
    stats: Literal["stats", "latency"] | None = None
    pg_id: int | None = None


Side = Annotated[tuple[TrexStream, ...], Field(max_length=STREAMS_MAX)]


class _Document(StrictModel):
    sides: tuple[Side, Side] | None = None
    error: str | None = None


class Limits(NamedTuple):
    """Limits of a profile's run.

    They bound its own CPU time, and the total, which includes scapy's start.
    """

    cpu_seconds: int = 10
    wall_seconds: float = 60.0


def run_profile(
    path: Path, tunables: Mapping[str, str], limits: Limits | None = None
) -> tuple[tuple[TrexStream, ...], tuple[TrexStream, ...]]:
    """Streams of each side of a profile; raises TrafficError."""
    output = _run(path, tunables, limits or Limits())
    try:
        document = _Document.model_validate_json(output)
    except ValidationError as error:
        raise TrafficError(_mistake_of(path, error)) from error
    if document.sides is None:
        raise TrafficError(f"{path}: {_one_line(document.error or 'no streams')}")
    return document.sides


def _run(path: Path, tunables: Mapping[str, str], limits: Limits) -> bytes:
    if not path.is_file():
        raise TrafficError(f"{path}: no such file")
    path = path.resolve()
    with ownership.temporary_folder("trex") as folder:
        out, err = Path(folder) / "document", Path(folder) / "errors"
        with out.open("wb") as document, err.open("wb") as errors:
            process = subprocess.Popen(
                _command(path, tunables, limits),
                stdin=subprocess.DEVNULL,
                stdout=document,
                stderr=errors,
                cwd=folder,
                env=_environment(path, folder),
                start_new_session=True,
            )
            try:
                process.wait(limits.wall_seconds)
            except subprocess.TimeoutExpired:
                raise TrafficError(
                    f"{path.name}: not done after {limits.wall_seconds:g} s; it was stopped"
                ) from None
            finally:
                _end(process)
        if out.stat().st_size >= DOCUMENT_BYTES:
            raise TrafficError(f"{path.name}: its output exceeds {DOCUMENT_BYTES >> 20} MB")
        output = out.read_bytes()
        if process.returncode != 0 or not output:
            raise TrafficError(f"{path.name}: {_death(process.returncode, err, limits)}")
        return output


def _command(path: Path, tunables: Mapping[str, str], limits: Limits) -> list[str]:
    reported = (str(path), json.dumps(dict(tunables)), str(limits.cpu_seconds))
    return [sys.executable, "-I", "-B", str(RUNNER), *reported]


def _environment(path: Path, folder: str) -> dict[str, str]:
    """Nothing of ours but where programs are; scapy keeps files at HOME."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "HOME": folder,
        "XDG_CONFIG_HOME": folder,
        "XDG_CACHE_HOME": folder,
        "TMPDIR": folder,
        "PROFILE_CWD": str(Path.cwd()),
        "PROFILE_FOLDER": str(path.parent),
        "PROFILE_USER": str(_user()),
    }


def _user() -> int:
    """User of a profile that root starts: the caller of sudo, or nobody:nogroup."""
    output = os.environ.get("SUDO_UID", "")
    known = output.isascii() and output.isdigit() and 0 < int(output[:10]) < 1 << 32
    return int(output[:10]) if known else NOBODY


def _end(process: subprocess.Popen[bytes]) -> None:
    """It and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _death(status: int, errors: Path, limits: Limits) -> str:
    if status < 0:
        too_long = f"it took more than {limits.cpu_seconds} s of CPU time"
        why: dict[int, str] = {
            signal.SIGXFSZ: "it wrote too much",
            signal.SIGXCPU: too_long,
            # Past the limit's signal, which it can ignore.
            signal.SIGKILL: f"it was killed: {too_long}, or the host has too little memory",
        }
        names = {number.value: number.name for number in signal.Signals}
        return why.get(-status) or f"its process ended by {names.get(-status, -status)}"
    lines = errors.read_bytes()[-2000:].decode(errors="replace").strip().splitlines()
    if any("MemoryError" in line for line in lines):
        return "it took too much memory"
    return _one_line(lines[-1] if lines else "its process ended without a word")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]


def _mistake_of(path: Path, error: ValidationError) -> str:
    """The stream, and its problem."""
    first = error.errors()[0]
    place: list[Any] = list(first["loc"])
    if first["type"] == "too_long" and place[:1] == ["sides"] and len(place) == 2:
        return (
            f"{path}: more than {STREAMS_MAX:,} streams for direction {place[1]}; expected at most "
            "as many as the engine sends"
        )
    if place[:1] == ["sides"] and place[2:]:
        name = f"stream {place[2]}"
        keys = [str(one) for one in place[3:] if not isinstance(one, int)]
        return f"{path}: {name}: {'.'.join(keys) or 'it'}: {first['msg'].lower()}"
    return mistake(str(path), first)
