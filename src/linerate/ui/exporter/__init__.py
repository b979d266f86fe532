"""Metrics of every engine on the host, and of VPP, in Prometheus's text format."""

from linerate.ui.exporter.collector import Exporter

__all__ = ["Exporter", "metrics_text"]

_EXPORTER = Exporter()


def metrics_text() -> tuple[bytes, str]:
    """All metrics now, and the content type that they are in."""
    return _EXPORTER.text()
