"""linerate: how fast a packet forwarder is, where each lost packet went, what stops it."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("linerate")
except PackageNotFoundError:  # run from the source tree, not installed
    __version__ = "0.0.0"

__all__ = ["__version__"]
