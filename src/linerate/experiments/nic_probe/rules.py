"""rte_flow rules on a port of an engine: tried, made and removed over its control socket."""

from typing import Any, Protocol

from linerate.engine.telemetry import RefusedError, Telemetry
from linerate.model.flow_rule_results import Answer, Batch, Refusal


class RuleTextError(Exception):
    """A rule that is not in testpmd's syntax: where, and what was expected."""

    def __init__(self, rule: str, column: int, text: str) -> None:
        """`column` counts from 1; `message` is the engine's line."""
        super().__init__(text)
        self.rule = rule
        self.column = column
        self.text = text

    #: Length of the text around the wrong word.
    _SHOWN = 66

    def shown(self) -> str:
        """Show the text with a mark beneath the word that is wrong."""
        start = max(0, self.column - 1 - self._SHOWN // 2)
        before = "…" if start else ""
        part = self.rule[start : start + self._SHOWN]
        after = "…" if start + self._SHOWN < len(self.rule) else ""
        caret = " " * (len(before) + self.column - 1 - start) + "^"
        return f"{before}{part}{after}\n{caret}\n{self.text}"


class Rules(Protocol):
    """Where rules can be tried."""

    def validate(self, rule: str) -> Answer:
        """Ask whether the port would take a rule."""
        ...

    def create(self, rule: str) -> Answer:
        """Make a rule."""
        ...

    def destroy(self, rule: int) -> Answer:
        """Remove a rule."""
        ...

    def flush(self) -> Answer:
        """Remove all rules of the port, whoever made them."""
        ...


class EngineRules:
    """Rules on a port of a running engine."""

    def __init__(self, telemetry: Telemetry, port: str) -> None:
        """`port` is its name in the engine's configuration."""
        self._telemetry = telemetry
        self._port = port

    def _ask(self, command: str, parameters: str, rule: str = "") -> dict[str, Any]:
        try:
            answer = self._telemetry.ask(f"/linerate/flow/{command},{self._port}{parameters}")
        except RefusedError as error:
            if "column" not in error.answer:
                raise
            column = int(error.answer["column"])
            raise RuleTextError(rule, column, str(error.answer["error"])) from error
        return dict(answer)

    def validate(self, rule: str) -> Answer:
        """Ask whether the port would take a rule; raises RuleTextError."""
        return _answer(self._ask("validate", f" {rule}", rule))

    def create(self, rule: str) -> Answer:
        """Make a rule; raises RuleTextError."""
        return _answer(self._ask("create", f" {rule}", rule))

    def destroy(self, rule: int) -> Answer:
        """Remove a rule that `create` made."""
        return _answer(self._ask("destroy", f",{rule}"))

    def flush(self) -> Answer:
        """Remove all rules of the port."""
        return _answer(self._ask("flush", ""))

    def batch(self, rule: str, count: int) -> Batch:
        """Make and remove rules through rte_flow's asynchronous API."""
        answer = self._ask("batch", f" {count} {rule}", rule)
        names = ("queue_size", "created", "destroyed", "create_ns", "destroy_ns")
        figures = {name: int(answer[name]) for name in names}
        return Batch(**figures, refusal=_answer(answer | {"ns": 0}).refusal)


def _answer(given: dict[str, Any]) -> Answer:
    if given["accepted"]:
        return Answer(int(given["ns"]), rule=int(given.get("id", 0)))
    words = (str(given[key]) for key in ("errno", "type", "cause", "message"))
    return Answer(int(given["ns"]), Refusal(*words))
