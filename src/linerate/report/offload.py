"""Ports of a live engine that look flows up."""

from typing import Any

from rich.console import Console

from linerate.report.plain_table import plain_table

#: Columns of `show offload`, and the engine's words for them.
OFFLOAD = {
    "rules": "rules",
    "limit": "limit",
    "from pps": "threshold_pps",
    "promoted": "promoted",
    "demoted": "demoted",
    "ended": "ended",
    "refused": "refused",
    "full": "full",
}


def table(console: Console, ports: dict[str, dict[str, Any]]) -> None:
    """Print which ports look flows up, and below what went wrong and how long rules take."""
    out = plain_table(("port", "left"), ("offload", "left"), *((name, "right") for name in OFFLOAD))
    for name, values in ports.items():
        row = (f"{values[key]:,}" for key in OFFLOAD.values())
        out.add_row(name, str(values["state"]), *row)
    console.print(out)
    for name, values in ports.items():
        for line in _offload_lines(values):
            console.print(f"  {name}: {line}", soft_wrap=True)


def _offload_lines(values: dict[str, Any]) -> list[str]:
    lines = []
    if values["state"] == "off":
        lines.append(f"switched off: {values['reason']}")
    refusals = [
        f"{key.removeprefix('refused_').replace('_', ' ')} {count:,}"
        for key, count in values.items()
        if key.startswith("refused_")
    ]
    if refusals:
        lines.append(f"refused by type of error: {', '.join(refusals)}")
    if values["last_error"]:
        lines.append(f"last error: {values['last_error']}")
    words = {
        "silent": "rules without effect",
        "lost": "rules that lost their effect",
        "not_destroyed": "rules that the port would not destroy",
        "unsuited": "flows for which there is no rule",
    }
    lines += [f"{text}: {values[key]:,}" for key, text in words.items() if values[key]]
    for verb in ("create", "destroy"):
        least, mean, most = (values[f"{verb}_ns_{of}"] / 1000 for of in ("min", "mean", "max"))
        if mean:
            lines.append(f"to {verb} a rule: {mean:,.0f} µs ({least:,.0f} to {most:,.0f})")
    return lines
