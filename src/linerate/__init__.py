"""linerate: how fast a packet forwarder is, where each lost packet went, what stops it."""

__all__ = ["__version__"]

__version__: str


def __getattr__(name: str) -> str:
    """Look the version up when it is asked for: most commands start sooner without."""
    if name != "__version__":
        raise AttributeError(f"module 'linerate' has no attribute '{name}'")
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("linerate")
    except PackageNotFoundError:  # run from the source tree, not installed
        return "0.0.0"
