"""Run one TRex stateless profile: `python -I runner.py PROFILE TUNABLES CPU_SECONDS`.

One JSON document comes out. The profile is another's program: before its first line is run this
process gives up networks, processes of its own, writing to files, and most of its memory.
"""

import importlib.util
import inspect
import io
import json
import os
import sys
import types
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
#: Names under which profiles know TRex's library.
ROOTS = ("trex_stl_lib", "trex", "stl_path")
SCAPY_MISSING = f"scapy is missing: {sys.executable} -m pip install scapy"


class Finder:
    """Every module of TRex's library is `api`; a class that `api` lacks is no module of it."""

    def __init__(self, api: types.ModuleType) -> None:
        """Give profiles `api`, whatever they import."""
        self._api = api

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """As in importlib."""
        del path, target
        root = name.partition(".")[0]
        if not name.rpartition(".")[2].islower():
            return None
        if root in ROOTS or root.startswith("trex_stl"):
            return importlib.util.spec_from_loader(name, self)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """A module of that name with everything in it."""
        module = types.ModuleType(spec.name)
        module.__dict__.update(
            {key: value for key, value in vars(self._api).items() if not key.startswith("__")}
        )
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def load_profile(path: str) -> Any:
    """Result of its register()."""
    folder = os.path.dirname(path)
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("profile_of_trex", path)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["profile_of_trex"] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "register"):
        raise AttributeError("register: the profile has no such function")
    return module.register()


def value_of(text: str) -> Any:
    """A tunable as what it looks like."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False, "None": None}.get(text, text)


def arguments(function: Any, tunables: dict[str, str], side: int) -> dict[str, Any]:
    """Arguments of get_streams(): tunables by name, or as the words of a command line."""
    parameters = inspect.signature(function).parameters
    open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    given: dict[str, Any] = {"direction": side, "port_id": side}
    if "tunables" in parameters:
        given["tunables"] = [
            word for name, value in tunables.items() for word in (f"--{name}", value)
        ]
    else:
        unknown = [name for name in tunables if name not in parameters and not open_ended]
        if unknown:
            raise TypeError(f"tunable '{unknown[0]}': the profile takes no such one")
        given |= {name: value_of(value) for name, value in tunables.items()}
    return {name: one for name, one in given.items() if open_ended or name in parameters}


def streams_of(profile: Any, tunables: dict[str, str], side: int) -> list[Any]:
    """Documents of the streams that one side sends."""
    asked = arguments(profile.get_streams, tunables, side)
    streams = profile.get_streams(**asked)
    if hasattr(streams, "get_streams"):
        streams = streams.get_streams()
    if not isinstance(streams, (list, tuple)):
        streams = [streams]
    return [one.document for one in streams]


def where(error: BaseException, path: str) -> str:
    """The profile's line in which it happened."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"line {line}: " if line else ""


def tell(error: BaseException, path: str, usage: str) -> str:
    """One line."""
    text = " ".join(str(error).split())[:300]
    kind = type(error).__name__
    if kind == "SystemExit":
        words = (
            " ".join(usage.rsplit("error:", maxsplit=1)[-1].split())[:300] or "it ended the process"
        )
        return f"{where(error, path)}{words}"
    if kind == "ProfileError":
        return f"{where(error, path)}{text}"
    # One of TRex's own names that is not had.
    if isinstance(error, NameError) and (error.name or "").startswith("STL"):
        return f"{where(error, path)}{error.name}: not supported"
    return f"{where(error, path)}{kind}: {text}"


def run(path: str, tunables: dict[str, str], cpu_seconds: int) -> dict[str, Any]:
    """The profile's streams, or why there are none."""
    usage = io.StringIO()
    try:
        api = importlib.import_module("api")
        vars(api)["STLHltStream"] = importlib.import_module("hlt").STLHltStream
    except ImportError as error:
        missing = (error.name or "").partition(".")[0] == "scapy"
        return {"error": SCAPY_MISSING if missing else f"ImportError: {error}"}
    sys.meta_path.insert(0, Finder(api))
    cell = importlib.import_module("cell")
    replayed = importlib.import_module("replayed")
    try:
        cell.lock(cpu_seconds, [os.path.dirname(path), *replayed.captures_beside()])
    except cell.CellError as error:
        return {"error": str(error)}
    sys.stderr = usage
    try:
        if path.endswith((".yaml", ".yml")):
            streams = importlib.import_module("listed").read(path)
            return {"sides": [streams, streams]}
        profile = load_profile(path)
        sides = [streams_of(profile, tunables, side) for side in (0, 1)]
        return {"sides": sides}
    except BaseException as error:
        return {"error": tell(error, path, usage.getvalue())}


def main() -> None:
    """Everything the profile prints goes away from the document."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, HERE)
    path, tunables, cpu_seconds = sys.argv[1:]
    document = run(os.path.abspath(path), json.loads(tunables), int(cpu_seconds))
    json.dump(document, out)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
