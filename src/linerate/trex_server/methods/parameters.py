"""Parameters that many methods share. Clients send more than is read: the rest is ignored."""

from typing import Annotated

from pydantic import BaseModel, Field

from linerate.trex_server.port import DEFAULT

PortNumber = Annotated[int, Field(ge=0, le=255)]
Name = Annotated[str, Field(max_length=200)]
Session = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)] | Name
#: No engine counts more streams.
StreamNumber = Annotated[int, Field(ge=0, lt=1 << 31)]


class Nothing(BaseModel):
    """None."""


class OfPort(BaseModel):
    """A port."""

    port_id: PortNumber


class Owned(OfPort):
    """A port, and proof that the caller owns it."""

    handler: Name


class OfProfile(Owned):
    """A profile of an owned port."""

    profile_id: Name = DEFAULT


class OfStreams(OfProfile):
    """Streams of a profile."""

    stream_ids: Annotated[tuple[StreamNumber, ...], Field(max_length=8192)]
