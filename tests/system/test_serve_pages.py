"""The pages in a real browser, over a real bench: from the list to a result, and back."""

import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from tests.many_runs import make_many
from tests.system.serving import Served, served

from linerate.experiments.campaign.state import StateFolder
from linerate.model.campaign import CampaignState
from linerate.model.campaign import TestbedState as Bed
from linerate.results.journal import read
from linerate.results.store import load_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: Time for a bench on a machine that is busy with others, too.
PATIENCE_MS = 300_000
PHONE = {"width": 360, "height": 740}

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    runs = tmp_path_factory.mktemp("serve") / "runs"
    make_many(runs, 6)
    (runs / "20260101-000000-broken").mkdir()
    with served(runs) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Watched:
    """A page, and all that went wrong or was asked for in it."""

    def __init__(self, browser: Browser, server: Served, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self._ask(request.url, server))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.wrong.append(text)

    def _ask(self, url: str, server: Served) -> None:
        if not url.startswith((f"{server.address}/", "data:")):
            self.wrong.append(f"asks for {url}")

    def check(self) -> None:
        self.context.close()
        assert self.wrong == []


def press_until(page: Page, key: str, condition: str) -> None:
    """Press a key until what has the focus fits a selector."""
    for _ in range(80):
        page.keyboard.press(key)
        if page.locator(f"{condition}:focus").count():
            return
    raise AssertionError(f"{condition} is not reached by {key}")


@pytest.mark.smoke
def test_list_open_compare_by_keyboard_alone(browser: Browser, server: Served) -> None:
    watched = Watched(browser, server, color_scheme="light")
    page = watched.page
    page.goto(f"{server.address}/")
    expect(page.get_by_role("status")).to_have_text("1 to 7 of 7 runs")
    expect(page.locator("tr.broken")).to_contain_text("no such file")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    press_until(page, "Tab", "select[name=dut]")
    page.keyboard.type("io")
    press_until(page, "Tab", ".filter button")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("io")
    page.goto(f"{server.address}/?q=nothing-has-this")
    expect(page.get_by_role("status")).to_have_text("No runs match this filter")
    page.goto(f"{server.address}/?sort=received_pps&q=2026100")
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Mpps")
    rates = [float(cell) for cell in page.locator('td[data-label="Mpps"]').all_inner_texts()]
    assert rates == sorted(rates)
    press_until(page, "Tab", "input[type=checkbox]")
    page.keyboard.press("Space")
    press_until(page, "Tab", "input[type=checkbox]")
    page.keyboard.press("Space")
    press_until(page, "Shift+Tab", ".bar button")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?*")
    expect(page.locator("main > .verdict")).to_contain_text("against")
    expect(page.locator("#rates .chart").first).to_be_visible()
    press_until(page, "Tab", ".links a")
    page.keyboard.press("Enter")
    expect(page.locator("#clocks .chart").first).to_be_visible()
    assert page.locator(".picture:visible").count() >= 5
    expect(page.locator(".picture:visible:not(:has(.chart))")).to_have_count(0)
    policy = server.ask("GET", "/")[1]["content-security-policy"]
    # Scripts add no style elements to the page; refusals are in `wrong`.
    assert "style-src-elem 'self';" in policy
    assert page.locator("style").count() == 0
    press_until(page, "Tab", "a")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline not in ("none", "")
    watched.check()


def test_all_columns_of_the_list_are_seen_on_a_wide_screen(
    browser: Browser, server: Served
) -> None:
    watched = Watched(browser, server, viewport={"width": 1400, "height": 900})
    page = watched.page
    page.goto(f"{server.address}/")
    # The longest names that there are.
    for cut in page.locator("tbody .cut").all():
        cut.evaluate("(one) => { one.textContent = 'a-long-name-of-a-test@1518 … '.repeat(9); }")
    for name in ("Host", "Commit"):
        expect(page.get_by_role("columnheader", name=name)).to_be_in_viewport(ratio=1)
    wider = "(one) => one.scrollWidth - one.clientWidth"
    assert page.locator(".scroll").evaluate(wider) <= 0
    watched.check()


def test_colours_follow_the_system_or_the_switch(browser: Browser, server: Served) -> None:
    watched = Watched(browser, server, color_scheme="dark", viewport=PHONE)
    page = watched.page
    page.goto(f"{server.address}/")
    # The table's headings have no room there: the form sorts, and no key leads to what is hidden.
    page.get_by_label("Sorted by").select_option(label="Mpps ▴")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**sort=received_pps*")
    rates = [
        float(cell)
        for cell in page.locator('td[data-label="Mpps"] >> text=/^[0-9.]+$/').all_inner_texts()
    ]
    assert len(rates) == 6
    assert rates == sorted(rates)
    page.locator(".runs thead a").first.focus()
    expect(page.locator(".runs thead a:focus")).to_have_count(0)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(22, 24, 28)"
    page.locator("#scheme").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.goto(f"{server.address}/live")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    # No empty pictures while nothing is measured.
    expect(page.locator("#state")).to_have_text("Nothing is being measured.")
    expect(page.locator(".picture:visible")).to_have_count(0)
    page.goto(f"{server.address}/runs/20260101-000000-broken")
    expect(page.locator("main")).to_contain_text("This run is broken: run.json: no such file")
    status, headers, reply = server.ask("GET", "/nowhere")
    assert (status, headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert b"No such page" in reply
    page.goto(f"{server.address}/live")
    page.locator("#scheme").click()
    expect(page.locator("#scheme")).to_have_text("Colours: dark")
    assert page.evaluate(colour) == "rgb(22, 24, 28)"
    expect(page.locator("#start")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("open the address with the token")
    watched.check()


def test_a_bench_from_its_start_to_its_result(browser: Browser, server: Served) -> None:
    watched = Watched(browser, server)
    page = watched.page
    page.goto(f"{server.address}/live?token={server.token}")
    assert server.token not in page.url
    (cookie,) = watched.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert server.token not in cookie["value"]
    # As a person: the command's refusal is shown, and nothing starts.
    page.get_by_label("Only").fill("Z9")
    # The browser notes each answer that is none.
    with page.expect_console_message(lambda message: " 422 " in message.text):
        page.get_by_role("button", name="Start").click()
    expect(page.locator("#start-error")).to_contain_text("Z9")
    assert [" 422 " in line for line in watched.wrong] == [True]
    watched.wrong.clear()
    page.get_by_label("Only").fill("U2")
    page.locator("input[name=card]").fill("pps=500000,link=1G")
    page.get_by_label("Seconds a trial").fill("0.6")
    page.get_by_label("Seconds a trial").press("Enter")
    expect(page.locator("#results tr")).not_to_have_count(0, timeout=PATIENCE_MS)
    expect(page.locator("#state")).to_contain_text("complete", timeout=PATIENCE_MS)
    expect(page.locator("#live")).to_have_attribute("data-state", re.compile("ended|waiting"))
    for name in ("rates", "vectors", "clocks", "shares", "losses"):
        expect(page.locator(f"#{name} .chart").first).to_be_visible()
    expect(page.locator("#rates")).to_contain_text("U2")
    expect(page.locator("#places")).to_contain_text("received: tester")
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    name = page.locator("#link a").inner_text()
    for path in ("/live", "/", f"/runs/{name}", f"/live?run={name}"):
        page.goto(server.address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    expect(page.locator("#losses .chart").first).to_be_visible()
    lossless(server.runs / name)
    watched.check()


def lossless(folder: Path) -> None:
    """Each series of the live view sums to what the run says, to the packet and the clock."""
    lines = list(read(folder / "live.jsonl"))
    run = load_run(folder)
    assert run.results
    numbers = {line["trial"]: line["number"] for line in lines if line["event"] == "result"}
    for result in run.results:
        mine = [
            line
            for line in lines
            if line["event"] in ("sample", "closed") and line["number"] == numbers[result.trial]
        ]
        assert len(mine) >= 2
        for ledger in result.time:
            seen = [line["workers"][ledger.worker] for line in mine]
            assert sum(worker["clocks"] for worker in seen) == ledger.elapsed_clocks
            for node, spent in ledger.nodes.items():
                parts = [worker["nodes"].get(node, [0] * 5) for worker in seen]
                sums = [sum(values) for values in zip(*parts, strict=True)]
                assert sums == list(spent.model_dump().values()), node
        packets: dict[tuple[str, str], int] = {}
        for line in mine:
            for place, kind, count in line["packets"]:
                packets[place, kind] = packets.get((place, kind), 0) + count
        whole = {(one.place, one.kind): one.packets for one in result.packets.entries}
        assert {key: n for key, n in packets.items() if n} == {k: n for k, n in whole.items() if n}


def test_a_bench_is_stopped_from_the_page(browser: Browser, server: Served) -> None:
    watched = Watched(browser, server)
    page = watched.page
    page.goto(f"{server.address}/live?token={server.token}")
    page.get_by_label("Only").fill("U2")
    page.get_by_label("Seconds a trial").fill("600")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#state")).to_contain_text("sending for 600 s", timeout=PATIENCE_MS)
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in watched.context.cookies())
    headers = {"Cookie": cookie, "X_Linerate": "1", "Content_Type": "application/json"}
    status, _, reply = server.ask("POST", "/api/bench", b"{}", **headers)
    assert (status, b"runs already" in reply) == (409, True)
    name = json.loads(server.ask("GET", "/api/bench")[2])["run"]
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#state")).to_contain_text("interrupted", timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name="Stop")).to_be_disabled(timeout=PATIENCE_MS)
    assert load_run(server.runs / name).status == "interrupted"
    assert server.status("POST", "/api/bench", b"{}", X_Linerate="1") == 401
    assert server.status("GET", "/", Host="evil.example") == 403
    watched.check()


def reported(count: int, resumed: bool, first: int = 0) -> str:
    """Events of a run: the samples from `first` on, each of ten packets."""
    lines: list[dict[str, Any]] = [
        {"event": "sample", "number": 1, "label": "U2", "at": 1000 + n, "at_us": n, "seconds": 1,
         "sent_pps": 10, "received_pps": 10, "workers": {}, "packets": [["tester", "received", 10]]}
        for n in range(first, count)
    ]  # fmt: skip
    if not first:
        result = {"event": "result", "trial": "U1", "valid": False, "invalid": ["it was cut short"]}
        trial = {"event": "trial", "number": 1, "label": "U2", "text": "", "at": 999}
        lines[:0] = [result, trial]
    about = {"name": "a-run", "resumed": resumed}
    return f"event: run\ndata: {json.dumps(about)}\n\n" + "".join(
        f"id: a-run:{n + 1}\ndata: {json.dumps(line)}\n\n" for n, line in enumerate(lines)
    )


def test_a_lost_connection_counts_nothing_twice(browser: Browser, server: Served) -> None:
    """The browser goes on by itself; where the server refused it, the page asks anew."""
    end = 'event: end\ndata: {"name": "a-run"}\n\n'
    answers = [
        (200, "retry: 10\n" + reported(200, resumed=False)),
        (200, "retry: 10\n" + reported(300, resumed=True, first=200)),
        (503, ""),
        (200, reported(700, resumed=False) + end),
    ]
    begun: list[str | None] = []

    def answer(route: Route) -> None:
        begun.append(route.request.headers.get("last-event-id"))
        status, body = answers[len(begun) - 1]
        route.fulfill(status=status, body=body, content_type="text/event-stream")

    page = browser.new_page()
    page.route("**/api/live*", answer)
    page.goto(f"{server.address}/live?run=a-run")
    expect(page.locator("#live[data-state=ended]")).to_be_attached(timeout=PATIENCE_MS)
    assert len(begun) == len(answers)
    assert (begun[0], begun[-1]) == (None, None)
    expect(page.locator("#results tr")).to_have_count(1)
    expect(page.locator("#places tr")).to_have_count(1)
    expect(page.locator("#places tr")).to_contain_text("received: tester7,000")
    # All are counted, and no more kept than are drawn.
    assert page.locator("#live").get_attribute("data-samples") == "600"
    page.close()


def test_a_page_that_was_refused_once_asks_again(browser: Browser, server: Served) -> None:
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.method)
        if len(asked) == 1:
            route.abort()
        else:
            route.fulfill(json={"running": False})

    page = browser.new_page()
    page.route("**/api/bench", answer)
    page.goto(f"{server.address}/live?token={server.token}")
    expect(page.get_by_role("button", name="Stop")).to_be_disabled(timeout=PATIENCE_MS)
    assert len(asked) == 2
    page.close()


def test_a_campaign_is_followed_as_it_goes_on(browser: Browser, tmp_path: Path) -> None:
    """Without a reload, on a screen as narrow as a phone's; what is cut off is nothing."""
    now = datetime.now(UTC)
    state = CampaignState(
        name="nightly",
        seed=1,
        started=now - timedelta(minutes=5),
        updated=now,
        units=8,
        done=3,
        testbeds=(Bed(name="lab-a", status="measuring", measured=3, now="main, 1st"),),
    )
    dataset = tmp_path / "dataset"
    folder = StateFolder(str(dataset), state.name)
    folder.write(state)
    with served(tmp_path / "runs", "--dataset", str(dataset)) as server:
        watched = Watched(browser, server, viewport={"width": 480, "height": 800})
        page = watched.page
        page.goto(f"{server.address}/campaigns")
        page.get_by_role("link", name="nightly").click()
        lead = page.locator("#campaigns .lead .value")
        expect(lead).to_have_text("3 of 8 units")
        testbeds = page.get_by_role("region", name="testbeds")
        wider = "(one) => one.scrollWidth - one.clientWidth"
        assert testbeds.evaluate(wider) <= 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 480
        aside = state.testbeds[0].model_copy(
            update={"status": "set aside", "now": "", "reason": "3 in a row without a result"}
        )
        folder.write(state.model_copy(update={"done": 5, "testbeds": (aside,)}))
        expect(lead).to_have_text("5 of 8 units", timeout=PATIENCE_MS)
        expect(testbeds).to_contain_text("3 in a row without a result")
        watched.check()
