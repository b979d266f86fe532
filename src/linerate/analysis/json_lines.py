"""Finds the line of each value in the JSON files of a run, so that a verdict can point at it."""

import re

#: Layout of run.json and the evidence files: one value a line, one blank a level.
INDENT = 1

_KEY = re.compile(r'"((?:[^"\\]|\\.)*)": ')

Path = tuple[str, ...]


def line_index(text: str) -> dict[Path, int]:
    """Map the path of each value (keys, indices of arrays) to its line, from 1."""
    lines: dict[Path, int] = {}
    elements: dict[Path, int] = {}
    stack: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        body = line.lstrip(" ")
        depth = (len(line) - len(body)) // INDENT
        if depth == 0 or body[:1] in "}]":
            continue
        del stack[depth - 1 :]
        parent = tuple(stack)
        match = _KEY.match(body)
        if match is None:
            elements[parent] = elements.get(parent, -1) + 1
        stack.append(match[1] if match else str(elements[parent]))
        lines[tuple(stack)] = number
    return lines
