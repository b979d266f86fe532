"""linerate in Python: measure, read runs, compare them; names are those of `--json`."""

from linerate.api.measure import bench, search
from linerate.api.runs import BenchRun, Comparison, MeasuredRun, SearchRun, compare, load

__all__ = [
    "BenchRun",
    "Comparison",
    "MeasuredRun",
    "SearchRun",
    "bench",
    "compare",
    "load",
    "search",
]
