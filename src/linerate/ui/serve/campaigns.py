"""Campaigns of a dataset: their states as pages and JSON, read when asked for."""

import threading
import time
from html import escape
from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import HTMLResponse
from pydantic import BaseModel

from linerate.base.open_beneath import read_beneath
from linerate.experiments.campaign.state import (
    STATE,
    STATE_BYTES_MAX,
    CampaignStateError,
    state_of,
)
from linerate.model.campaign import CampaignState
from linerate.report.campaign_progress import list_document, status_page
from linerate.report.render import html
from linerate.ui.serve.api import NOT_FOUND, REFUSED
from linerate.ui.serve.gently import Gently
from linerate.ui.serve.shell import page

REFRESH_SECONDS = 1.0
#: More are not listed.
CAMPAIGNS_MAX = 1000
HERE = "/campaigns"


class CampaignList(BaseModel):
    """All campaigns of the dataset."""

    campaigns: list[CampaignState]
    #: States that can't be read, a line each.
    broken: list[str]


class Campaigns:
    """States of the campaigns of a dataset's folder; its methods may be called from any thread."""

    def __init__(self, dataset: Path) -> None:
        self.folder = dataset / "campaigns"
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._states: dict[str, CampaignState] = {}
        self._broken: dict[str, str] = {}

    def states(self) -> list[CampaignState]:
        """States that can be read."""
        with self._lock:
            self._refresh()
            return list(self._states.values())

    def broken(self) -> list[str]:
        """Why others can't, a line each."""
        with self._lock:
            self._refresh()
            return list(self._broken.values())

    def state(self, name: str) -> CampaignState | None:
        """The state of one; only names of folders that are there have one."""
        with self._lock:
            self._refresh()
            return self._states.get(name)

    def _refresh(self) -> None:
        if time.monotonic() - self._read_at < REFRESH_SECONDS:
            return
        self._states, self._broken = {}, {}
        for name in self._names():
            file = f"{name}/{STATE}"
            try:
                content = read_beneath(self.folder, file, STATE_BYTES_MAX)
                state = state_of(content, file)
                if state.name != name:
                    raise CampaignStateError(f"{file}: of another campaign, {state.name}")
                self._states[name] = state
            except FileNotFoundError:
                continue
            except CampaignStateError as error:
                self._broken[name] = str(error)
            except OSError as error:
                self._broken[name] = f"{file}: {(error.strerror or str(error)).lower()}"
        self._read_at = time.monotonic()

    def _names(self) -> list[str]:
        try:
            return sorted(one.name for one in self.folder.iterdir())[:CAMPAIGNS_MAX]
        except OSError:
            return []


def campaign_pages(campaigns: Campaigns) -> APIRouter:
    """The list of campaigns, and a page of each."""
    router = APIRouter(include_in_schema=False, route_class=Gently)

    @router.get(HERE)
    def listed() -> HTMLResponse:
        """All, the last one begun first."""
        states = campaigns.states()
        body = html.page(list_document(states)).body if states else _none(campaigns.folder)
        broken = "".join(f'<p class="warning">{escape(line)}</p>' for line in campaigns.broken())
        return _live_page("Campaigns", body + broken)

    @router.get(HERE + "/{name}")
    def campaign(name: str) -> HTMLResponse:
        """Progress, testbeds, and attempts without a result."""
        state = campaigns.state(name)
        if state is None:
            text = f"no such campaign: {name}"
            body = f'<h1>Campaigns</h1><p class="warning">{escape(text)}</p>'
            return page("Campaigns", body, HERE, status=404)
        bar = (
            f'<progress id="progress" max="{max(1, state.units)}" value="{state.done}" '
            'aria-label="units that have a result"></progress>'
        )
        back = f'<p class="links"><a href="{HERE}">all campaigns</a></p>'
        made = html.page(status_page(state))
        return _live_page(f"Campaign {state.name}", back + bar + made.body)

    return router


def campaign_api(campaigns: Campaigns) -> APIRouter:
    """The same for programs."""
    router = APIRouter(prefix="/api", responses=REFUSED, route_class=Gently)

    @router.get("/campaigns")
    def listed() -> CampaignList:
        """States of all campaigns, and why some can't be read."""
        return CampaignList(campaigns=campaigns.states(), broken=campaigns.broken())

    @router.get("/campaigns/{name}", responses=NOT_FOUND)
    def campaign(name: str) -> CampaignState:
        """State of one, as `linerate campaign status --json` has it."""
        state = campaigns.state(name)
        if state is None:
            raise HTTPException(404, f"no such campaign: {name}")
        return state

    return router


def _live_page(title: str, body: str) -> HTMLResponse:
    """A page whose section is fetched anew while it is looked at."""
    whole = f'<h1>{escape(title)}</h1><section id="campaigns">{body}</section>'
    return page(title, whole, HERE, ("campaigns.js",))


def _none(folder: Path) -> str:
    return (
        f"<p>No campaign has begun in {escape(str(folder.parent))}. "
        "<code>linerate campaign run</code> begins one; "
        "<code>linerate serve --dataset</code> names the folder of another dataset.</p>"
    )
