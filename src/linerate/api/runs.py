"""Runs of a folder in Python: results by test, tables, a display for notebooks."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from linerate.api.display import html_of
from linerate.base.errors import UserError
from linerate.report import comparison, json_output
from linerate.report import search as search_report
from linerate.report.comparison import PairOutput
from linerate.report.document import Document
from linerate.report.json_output import TrialOutput
from linerate.report.of_run import document_of
from linerate.report.search import SearchedLoadtest
from linerate.results.compare import compare as compared
from linerate.results.compare import sides
from linerate.results.index.tables import TABLES, relation
from linerate.results.store import Run, load_run

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")


class MeasuredRun:
    """A run of any command, and its folder."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder = folder
        #: Everything in its run.json.
        self.record = run

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.folder.resolve().name

    @property
    def status(self) -> str:
        """`complete`, or how it ended."""
        return self.record.status

    @property
    def problem(self) -> str:
        """Why it ended early; nothing of a complete one."""
        return self.record.problem

    @cached_property
    def tests(self) -> Mapping[str, TrialOutput]:
        """Results by test; of repeated trials, the one with the median rate."""
        return {one.test: json_output.trial(one) for one in self.record.reported()}

    @cached_property
    def repeats(self) -> Mapping[str, tuple[TrialOutput, ...]]:
        """All repeated trials by test, the last attempt at each."""
        return {
            test: tuple(map(json_output.trial, results))
            for test, results in self.record.repeats().items()
        }

    def table(self, name: str = "results") -> "duckdb.DuckDBPyRelation":
        """One of the tables that `linerate export` writes, as a relation of DuckDB."""
        if name not in TABLES:
            raise KeyError(f"{name}: no such table; expected one of {', '.join(TABLES)}")
        return relation([(self.name, self.record)], name)

    def to_pandas(self, name: str = "results") -> Any:  # noqa: ANN401 (pandas is optional)
        """The same as a DataFrame. Raises UserError where pandas is not installed."""
        if find_spec("pandas") is None:
            raise UserError(
                "pandas is not installed: pip install 'linerate[pandas]', or use .table(), which "
                "needs no other library"
            )
        return self.table(name).df()

    def _document(self) -> Document:
        return document_of(self.record, self.folder)

    def _repr_html_(self) -> str:
        """Tables of the report, for notebooks."""
        return html_of(self._document())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.status}, {', '.join(self.record.tests)}>"


class BenchRun(MeasuredRun):
    """A run of tests: a bench, and whatever else is no search."""

    def __getitem__(self, test: str) -> TrialOutput:
        """The result of one test, `run["U2"]`."""
        return _found(self.tests, test)

    def __iter__(self) -> Iterator[str]:
        """Names of its tests."""
        return iter(self.tests)

    def __len__(self) -> int:
        """Number of tests with a trial."""
        return len(self.tests)


class SearchRun(MeasuredRun):
    """A run of searches."""

    @cached_property
    def searches(self) -> Mapping[str, SearchedLoadtest]:
        """Searches by loadtest."""
        run = self.record
        return {one.loadtest: search_report.searched(run, one) for one in run.searches}

    @property
    def ndr_pps(self) -> float | None:
        """Highest load without loss of the first loadtest; None where none was found."""
        return next((one.ndr_pps for one in self.searches.values()), None)

    @property
    def pdr_pps(self) -> float | None:
        """Highest load with at most 0.5 % loss of the first loadtest."""
        return next((one.pdr_pps for one in self.searches.values()), None)

    def __getitem__(self, loadtest: str) -> SearchedLoadtest:
        """The search with one loadtest, `run["U2"]`."""
        return _found(self.searches, loadtest)

    def __iter__(self) -> Iterator[str]:
        """Names of its loadtests."""
        return iter(self.searches)

    def __len__(self) -> int:
        """Number of searches."""
        return len(self.searches)


class Comparison:
    """Runs against the first of them."""

    def __init__(self, document: Document, pairs: tuple[PairOutput, ...]) -> None:
        self._document = document
        self.pairs = pairs

    @property
    def sentence(self) -> str:
        """The faster one, by how much, and whether that is more than noise."""
        return " ".join(pair.sentence for pair in self.pairs)

    def _repr_html_(self) -> str:
        """Tables of the comparison, for notebooks."""
        return html_of(self._document)

    def __repr__(self) -> str:
        return f"<Comparison: {self.sentence}>"


def load(folder: str | Path) -> BenchRun | SearchRun:
    """Read a run from its folder. Raises UserError."""
    path = Path(folder)
    run = load_run(path)
    kind = SearchRun if run.searches else BenchRun
    return kind(path if path.is_dir() else path.parent, run)


def compare(base: MeasuredRun, *others: MeasuredRun) -> Comparison:
    """Compare runs with the first. Raises CompareError where they have no test in common."""
    pairs = compared(sides([[(one.name, one.record)] for one in (base, *others)]))
    return Comparison(comparison.document(pairs), tuple(comparison.outputs(pairs)))


def _found(named: Mapping[str, T], name: str) -> T:
    if name not in named:
        raise KeyError(f"{name}: not measured; there are {', '.join(named) or 'none'}")
    return named[name]
