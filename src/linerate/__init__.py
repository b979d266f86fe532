"""linerate: how fast a packet forwarder is, where each lost packet went, what stops it."""

__all__ = [
    "BenchRun",
    "Comparison",
    "MeasuredRun",
    "SearchRun",
    "__version__",
    "bench",
    "compare",
    "load",
    "search",
]


def __getattr__(name: str) -> object:
    """Look a name up when it is asked for: commands, and `import linerate`, start sooner without.

    `__init__.pyi` has their types.
    """
    if name == "__version__":
        return _version()
    if name not in __all__:
        raise AttributeError(f"module 'linerate' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module("linerate.api"), name)


def __dir__() -> list[str]:
    return __all__


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("linerate")
    except PackageNotFoundError:  # run from the source tree, not installed
        return "0.0.0"
