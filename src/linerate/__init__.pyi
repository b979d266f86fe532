from linerate.api import BenchRun as BenchRun
from linerate.api import Comparison as Comparison
from linerate.api import MeasuredRun as MeasuredRun
from linerate.api import SearchRun as SearchRun
from linerate.api import bench as bench
from linerate.api import compare as compare
from linerate.api import load as load
from linerate.api import search as search

__all__: list[str]
__version__: str
