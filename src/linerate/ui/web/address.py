"""HOST:PORT, and who can reach it."""

import ipaddress

PORT_MAX = 65535


def host_and_port(text: str) -> tuple[str, int] | None:
    """Both parts of an address; None when it is none."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > PORT_MAX:
        return None
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this host can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
