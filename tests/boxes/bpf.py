"""Programs in the kernel that drop packets at random, pinned where iproute2 finds them."""

import ctypes
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.system.namespaces import run

#: asm/unistd_64.h, and linux/bpf.h.
_SYS_BPF = 321
_PROG_LOAD, _OBJ_PIN = 5, 6
_ATTRIBUTE_BYTES = 128
_LOG_BYTES = 1 << 16
_GET_PRANDOM_U32 = 7
#: By kind: its type, and what it returns of a packet that goes on, and of one that ends.
_KINDS = {"xdp": (6, 2, 1), "tc": (3, 0, 2)}
#: One in eight.
_MASK = 7


def _instruction(code: int, offset: int = 0, value: int = 0) -> bytes:
    """One that works on register 0."""
    return struct.pack("<BBhi", code, 0, offset, value)


def _program(goes_on: int, ends: int) -> bytes:
    return b"".join((
        _instruction(0x85, value=_GET_PRANDOM_U32),
        _instruction(0x57, value=_MASK),  # r0 &= mask
        _instruction(0x15, offset=2),  # if r0 == 0: two further
        _instruction(0xB7, value=goes_on),
        _instruction(0x95),
        _instruction(0xB7, value=ends),
        _instruction(0x95),
    ))  # fmt: skip


def _bpf(command: int, attribute: bytes) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attribute, _ATTRIBUTE_BYTES)
    found = libc.syscall(_SYS_BPF, command, buffer, _ATTRIBUTE_BYTES)
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(found)


def _load(kind: str) -> int:
    number, goes_on, ends = _KINDS[kind]
    program = ctypes.create_string_buffer(_program(goes_on, ends))
    instructions = (len(program) - 1) // 8
    licence = ctypes.create_string_buffer(b"Dual BSD/GPL")
    addresses = (ctypes.addressof(program), ctypes.addressof(licence))
    return _bpf(_PROG_LOAD, struct.pack("<IIQQ", number, instructions, *addresses))


@contextmanager
def pinned() -> Iterator[Path]:
    """A folder with a program of each kind, by its name."""
    with tempfile.TemporaryDirectory(prefix="lr-bpf-") as name:
        folder = Path(name)
        run(f"mount -t bpf none {folder}")
        try:
            for kind in _KINDS:
                program = _load(kind)
                path = ctypes.create_string_buffer(bytes(folder / kind))
                _bpf(_OBJ_PIN, struct.pack("<QI", ctypes.addressof(path), program))
                os.close(program)
            yield folder
        finally:
            run(f"umount {folder}", check=False)
