"""The server's methods, a file a group; importing this package registers them."""

from linerate.trex_server.methods import (  # noqa: F401
    captures,
    connection,
    frames,
    groups,
    layers,
    ownership,
    port_settings,
    refused,
    statistics,
    streams,
    traffic,
)
