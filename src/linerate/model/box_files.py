"""A box's answers as text files, as somebody would have pasted them: one file a batch.

For eyes and for other tools; the same answers stand in the trial's evidence.
"""

from datetime import UTC, datetime

from linerate.model.box import Answer, BoxAnswers, Moment

#: File names sort by time.
_ORDER: tuple[Moment, ...] = ("facts", "before", "load", "profile", "after")
_WORDS = {
    "facts": "set-up of the box",
    "before": "before the trial",
    "load": "while packets fly",
    "profile": "samples while packets fly, read after the last one",
    "after": "after the last packet",
}


def files_of(box: BoxAnswers) -> dict[str, str]:
    """By name of a file, the answers of a batch with times and commands."""
    found = {}
    for order, moment in enumerate(_ORDER):
        batches = box.batches(moment)
        for number, batch in enumerate(batches, start=1):
            again = f"-{number}" if len(batches) > 1 else ""
            found[f"{order}-{moment}{again}.txt"] = _text(box, batch)
    return found


def _text(box: BoxAnswers, batch: tuple[Answer, ...]) -> str:
    first = batch[0]
    asked = datetime.fromtimestamp(first.asked_us / 1e6, UTC).isoformat(timespec="milliseconds")
    ports = ", ".join(f"{port} is {name}" for port, name in box.ports.items())
    lines = [
        f"# {box.kind} at {box.at}; {ports}",
        f"# {_WORDS[first.moment]}: asked {asked}, answered within {first.took_us / 1e3:.1f} ms",
    ]
    for answer in batch:
        lines += ["", f"$ {answer.command}", answer.text.rstrip("\n")]
        lines += [f"# no answer: {answer.problem}"] if answer.problem else []
    return "\n".join(lines) + "\n"
