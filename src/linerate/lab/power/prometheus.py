"""Prometheus: the answer to an instant query, one figure in watts."""

from typing import Any
from urllib.parse import urlencode

from linerate.lab.power import Meter, MeterError, Usual, about, register
from linerate.lab.power._hosts import PowerHost
from linerate.lab.power._http import Http, number
from linerate.lab.power._secrets import secret
from linerate.model.power import PowerReading
from linerate.model.power_sources import Prometheus

#: It scrapes seldom: reading it more often gives the same figure again.
USUAL = Usual("as the query says", 15.0, 0.0)


class _PrometheusMeter:
    """One query."""

    def __init__(self, spec: Prometheus) -> None:
        self.about = about(spec, USUAL)
        password = secret(spec.password_env, spec.password_file)
        self._http = Http(spec.url, spec.timeout_seconds, spec.user, password)
        self._path = f"/api/v1/query?{urlencode({'query': spec.query})}"

    def read(self) -> PowerReading:
        """Power now."""
        return PowerReading(watts=watts_of(self._http.json(self._path)))

    def close(self) -> None:
        """Nothing is held open."""


def watts_of(answer: Any) -> float:  # noqa: ANN401 (JSON)
    """The one figure of an answer; raises MeterError."""
    if not isinstance(answer, dict) or answer.get("status") != "success":
        reason = answer.get("error") if isinstance(answer, dict) else None
        raise MeterError(f"prometheus: {str(reason or 'no answer to a query')[:120]}")
    data = answer.get("data")
    result = data.get("result") if isinstance(data, dict) else None
    kind = data.get("resultType") if isinstance(data, dict) else None
    if kind == "vector" and isinstance(result, list):
        if len(result) != 1:
            raise MeterError(f"prometheus: {len(result)} series, expected one: sum() or a label")
        result = result[0].get("value") if isinstance(result[0], dict) else None
    elif kind != "scalar":
        raise MeterError("prometheus: expected one figure, not a range or a text")
    value = number(result[1]) if isinstance(result, list) and len(result) == 2 else None
    if value is None:
        raise MeterError("prometheus: the answer has no figure")
    return value


class _PrometheusSource:
    """Queries of a server."""

    name = "prometheus"

    def open(self, spec: Prometheus, host: PowerHost) -> Meter:
        """Its web server is ours to ask."""
        del host
        return _PrometheusMeter(spec)


register(_PrometheusSource())
