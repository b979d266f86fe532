"""Messages on the request socket: plain JSON, or JSON deflated behind a header of eight bytes."""

import struct
import zlib
from dataclasses import dataclass

from linerate.trex_server.errors import BadTextError

MAGIC = 0xABE85CEA
_HEADER = struct.Struct(">II")
#: Largest message on the wire, and largest text in it: the client sends batches of 0.5 MB.
MESSAGE_BYTES_MAX = 8 << 20
TEXT_BYTES_MAX = 32 << 20


@dataclass(frozen=True, slots=True)
class Message:
    """Text of a request, and whether it came deflated: the answer goes the same way."""

    text: bytes
    deflated: bool


def is_deflated(data: bytes) -> bool:
    """Whether a message begins with the header."""
    return len(data) >= _HEADER.size and _HEADER.unpack_from(data)[0] == MAGIC


def unpack(data: bytes) -> Message:
    """Text of a message; raises BadTextError. Never more memory than `TEXT_BYTES_MAX`."""
    if len(data) > MESSAGE_BYTES_MAX:
        raise BadTextError(
            f"message of {len(data)} bytes; expected up to {MESSAGE_BYTES_MAX} bytes"
        )
    if not is_deflated(data):
        return Message(data, deflated=False)
    length = _HEADER.unpack_from(data)[1]
    if length > TEXT_BYTES_MAX:
        raise BadTextError(f"text of {length} bytes; expected up to {TEXT_BYTES_MAX} bytes")
    inflater = zlib.decompressobj()
    try:
        # One byte more than announced, to see that there is more.
        text = inflater.decompress(data[_HEADER.size :], length + 1)
    except zlib.error as error:
        raise BadTextError(f"not deflated: {error}") from error
    if len(text) != length or not inflater.eof:
        raise BadTextError(f"deflated text is not of the {length} bytes in its header")
    return Message(text, deflated=True)


def pack(message: Message) -> bytes:
    """A message as it goes over the socket."""
    if not message.deflated:
        return message.text
    return _HEADER.pack(MAGIC, len(message.text)) + zlib.compress(message.text)
