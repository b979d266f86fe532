"""Questions to a box, asked together: one command line for all that a moment needs."""

import re
import secrets
import shlex
import time
from collections.abc import Sequence

from linerate.lab.box.access import Access
from linerate.model.box import Answer, Moment
from linerate.parsers.boxes import Question

#: Administrators' programs are not on the path of a plain login everywhere.
_HEAD = "LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; export PATH"
_STATUS = re.compile(r"(.*)\n([0-9a-f]{16}) (\d{1,3})\n?", re.DOTALL)


def ask(
    access: Access, questions: Sequence[Question], moment: Moment, timeout_s: float
) -> tuple[Answer, ...]:
    """Ask all at once through the box's shell. Raises BoxError where none is answered."""
    if not questions:
        return ()
    # Nothing that a box prints can look like the end of an answer.
    mark = secrets.token_hex(8)
    began, asked_us = time.monotonic(), _now_us()
    ran = access.run(_batch(questions, mark), timeout_s)
    took_us = round(1e6 * (time.monotonic() - began))
    parts = ran.text.split(f"\n{mark} begins\n")[1:]
    return tuple(
        _answer(question, part, mark, Answer(
            moment=moment,
            question=question.name,
            command=question.command,
            asked_us=asked_us,
            took_us=took_us,
            problem=_short(ran.error) or "no answer",
        ))
        for question, part in zip(questions, [*parts, *[""] * len(questions)], strict=False)
    )  # fmt: skip


def ask_each(
    access: Access, questions: Sequence[Question], moment: Moment, timeout_s: float
) -> tuple[Answer, ...]:
    """Ask one after the other, of boxes that have no shell. Raises BoxError."""
    answers = []
    asked_us = _now_us()
    for question in questions:
        began = time.monotonic()
        ran = access.run(question.command, timeout_s)
        answers.append(
            Answer(
                moment=moment,
                question=question.name,
                command=question.command,
                asked_us=asked_us,
                took_us=round(1e6 * (time.monotonic() - began)),
                text=ran.text,
                problem="" if ran.status == 0 else _failed(ran.error or ran.text, ran.status),
            )
        )
    return tuple(answers)


def _batch(questions: Sequence[Question], mark: str) -> str:
    """A command line for a shell: each answer between two lines that it can't know."""
    lines = [_HEAD]
    for question in questions:
        lines.append(f"printf '\\n%s begins\\n' {mark}")
        lines.append(f"sh -c {shlex.quote(question.command)} 2>&1 </dev/null")
        lines.append(f"printf '\\n%s %s\\n' {mark} $?")
    return "\n".join(lines)


def _answer(question: Question, part: str, mark: str, answer: Answer) -> Answer:
    """The answer with its text, or with why it has none."""
    match = _STATUS.fullmatch(part)
    if match is None or match[2] != mark:
        return answer
    text, status = match[1], int(match[3])
    if status:
        return answer.model_copy(update={"problem": _failed(text, status)})
    return answer.model_copy(update={"text": text, "problem": ""})


def _failed(text: str, status: int) -> str:
    return _short(text) or f"it ended with status {status}"


def _short(text: str) -> str:
    """The last line of an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def _now_us() -> int:
    return time.time_ns() // 1000
