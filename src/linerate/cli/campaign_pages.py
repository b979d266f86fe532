"""Writes the pages of a campaign, and its trials beside them."""

from pathlib import Path

from linerate.base.atomic_write import write_bytes_whole
from linerate.cli.dataset_options import dataset_at
from linerate.report import campaign as campaign_report
from linerate.report.render import csv, html
from linerate.report.render import json as as_json_text
from linerate.results.dataset.parquet import parquet_of
from linerate.results.dataset.row import TrialRow
from linerate.results.store import StoreError
from linerate.results.versions import campaigns, versions_of
from linerate.ui.screen import say

#: Campaigns that a line names.
NAMED = 8
#: Folder of the pages where none is given.
FOLDER = "report-{name}"


def campaign_of(words: str, dataset: str, against: str) -> campaign_report.Campaign:
    """A campaign by its name in a dataset, or all trials of a dataset by its URL."""
    whole = "://" in words or Path(words).expanduser().is_dir()
    rows = _whole(words) if whole else _named(words, dataset)
    found = versions_of(rows, against)
    if against and against not in found.versions:
        known = ", ".join(found.versions[:NAMED])
        raise StoreError(f"--against {against}: no such version; expected one of {known}")
    if not found.tests:
        raise StoreError(f"campaign {words}: no trials to report")
    named = {one.campaign for one in rows if one.campaign}
    name = next(iter(named)) if len(named) == 1 else Path(words.rstrip("/")).name
    return campaign_report.Campaign(name, rows, found)


def _whole(url: str) -> list[TrialRow]:
    rows = dataset_at(url).rows()
    if not rows:
        raise StoreError(f"{url}: no trials; linerate dataset add RUN… --to {url} adds some")
    return rows


def _named(name: str, dataset: str) -> list[TrialRow]:
    rows = dataset_at(dataset).rows("campaign = ?", [name])
    if rows:
        return rows
    known = campaigns(dataset_at(dataset).rows("campaign <> ''"))
    some = f"its campaigns: {', '.join(known[:NAMED])}" if known else "it has no campaign"
    raise StoreError(f"{dataset}: no campaign {name}; {some} (--dataset names another dataset)")


def show_campaign(campaign: campaign_report.Campaign, output: Path | None, as_json: bool) -> None:
    """Print it as JSON, or write its pages and files into a folder."""
    document = campaign_report.index(campaign)
    if as_json:
        say(as_json_text.render(document))
        return
    folder = output or Path(FOLDER.format(name=campaign.name.replace("/", "-")))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {(error.strerror or str(error)).lower()}") from error
    pages = {
        page: campaign_report.scenario_page(campaign, scenario)
        for scenario, page in campaign.pages.items()
    }
    files = {
        campaign_report.CSV_FILE: csv.render(document).encode(),
        campaign_report.PARQUET_FILE: parquet_of(campaign.rows),
        **{name: html.page(page).html.encode() for name, page in pages.items()},
        # Last, so that what it leads to is there.
        campaign_report.INDEX_FILE: html.page(document).html.encode(),
    }
    for name, content in files.items():
        try:
            write_bytes_whole(folder / name, content)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise StoreError(f"{folder / name}: {reason}") from error
    say(folder / campaign_report.INDEX_FILE)
