"""Metrics: one group of families a file, registered where it stands.

Names and units are after Prometheus's conventions: base units, `_total` on what only grows. Every
metric of an engine has the label `engine`, and grows from that engine's start on.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from linerate.ui.exporter.scene import Scene

Families = Callable[[Scene], Iterator[Metric]]
#: Values of labels, and the metric's.
Sample = tuple[tuple[str, ...], float]

_FAMILIES: list[Families] = []


def families(make: Families) -> Families:
    """Register a group of families; it yields what there is something to say of."""
    _FAMILIES.append(make)
    return make


def metrics(scene: Scene) -> Iterator[Metric]:
    """All metrics of a scene, group by group in the order of their files' names."""
    for module in sorted(one.name for one in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    for make in sorted(_FAMILIES, key=lambda one: one.__module__):
        yield from (metric for metric in make(scene) if metric.samples)


def counter(name: str, text: str, labels: tuple[str, ...], samples: Iterable[Sample]) -> Metric:
    """Make a family of counters; `name` without its `_total`."""
    metric = CounterMetricFamily(name, text, labels=labels)
    for values, value in samples:
        metric.add_metric(values, value)
    return metric


def gauge(name: str, text: str, labels: tuple[str, ...], samples: Iterable[Sample]) -> Metric:
    """Make a family of values that go up and down."""
    metric = GaugeMetricFamily(name, text, labels=labels)
    for values, value in samples:
        metric.add_metric(values, value)
    return metric
