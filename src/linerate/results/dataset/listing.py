"""Contents of a dataset by scenario and month, counted in its files and by one question."""

from collections.abc import Iterable

from linerate.base.frozen_model import FrozenModel
from linerate.base.published import published
from linerate.results.dataset.dataset import Dataset

#: A unit is of one run, so of one scenario, testbed and version; the run that began first counts.
_COUNTED = """
WITH units AS (
    SELECT
        unit_key, any_value(scenario) AS scenario, strftime(min(started), '%Y-%m') AS month,
        count(*) AS trials, count(*) FILTER (NOT valid) AS invalid,
        any_value(testbed) AS testbed, any_value(device) AS device,
        any_value(coalesce(nullif(commit, ''), version)) AS version
    FROM copies GROUP BY unit_key, run, file_index
    QUALIFY row_number() OVER (PARTITION BY unit_key ORDER BY min(started), run, file_index) = 1
)
SELECT
    scenario, month, sum(trials)::BIGINT, sum(invalid)::BIGINT, count(*),
    count(DISTINCT testbed), count(DISTINCT device), count(DISTINCT version)
FROM units GROUP BY scenario, month ORDER BY scenario, month
"""


class PartRow(FrozenModel):
    """Trials of one scenario in one month."""

    scenario: str
    month: str
    trials: int
    invalid: int
    #: Runs, or units of campaigns.
    units: int
    testbeds: int
    devices: int
    #: Commits, or versions where no commit is known.
    versions: int


class Listing(FrozenModel):
    """A dataset in short."""

    dataset: str
    files: int
    bytes: int
    parts: tuple[PartRow, ...]

    @property
    def trials(self) -> int:
        """Trials of all parts."""
        return sum(part.trials for part in self.parts)


published("dataset-list", "JSON of `linerate dataset list --json`")(Listing)


def listing(dataset: Dataset) -> Listing:
    """Count all that is there. Raises DatasetError."""
    files = dataset.store.files()
    with dataset.copies() as database:
        found = database.execute(_COUNTED).fetchall()
    return Listing(
        dataset=dataset.shown,
        files=len(files),
        bytes=sum(file.bytes for file in files),
        parts=tuple(_parts(found)),
    )


def _parts(found: Iterable[tuple[object, ...]]) -> Iterable[PartRow]:
    names = tuple(PartRow.model_fields)
    return (PartRow.model_validate(dict(zip(names, row, strict=True))) for row in found)
