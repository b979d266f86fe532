"""Offloads of an interface, by ETHTOOL ioctls (linux/ethtool.h)."""

import contextlib
import ctypes
import fcntl
import socket
import struct

_SIOCETHTOOL = 0x8946
#: Offloads that leave work undone, or join frames, on a virtual link: ETHTOOL_SRXCSUM, STXCSUM,
#: STSO, SGSO, SGRO.
_SETTINGS = (0x15, 0x17, 0x1F, 0x24, 0x2C)


def offloads_off(interface: str) -> None:
    """Let each frame be whole, alone and with its checksum; in the thread's namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for setting in _SETTINGS:
            value = ctypes.create_string_buffer(struct.pack("=II", setting, 0))
            request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(value))
            # A feature that a driver lacks cannot be on.
            with contextlib.suppress(OSError):
                fcntl.ioctl(control, _SIOCETHTOOL, request)
