"""The page in a real browser: it draws, says no error, asks for nothing."""

import importlib.util
import json
import shutil
import subprocess
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

from linerate.report import bench
from linerate.report.document import Column, Document, Figure, Table
from linerate.report.figures.picture import layout
from linerate.report.render import html
from linerate.results.store import Run

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build-aux" / "screenshots"
STORED = Path(__file__).parent / "report_run.json"

pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None and shutil.which("chromium-browser") is None,
    reason="Debian's chromium is not installed",
)


def screenshots(page: Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [str(SCREENSHOTS), str(page), *([str(folder)] if folder else [])]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)


def test_a_report_opens_without_an_error_or_a_request(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    run = Run.model_validate_json(STORED.read_text())
    page.write_text(html.page(bench.document(run, Path("a-run"), lambda *_: None)).html)
    done = screenshots(page, tmp_path / "images")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("report", "report-clocks", "report-ledger", "report-ceilings", "report-phone"):
        assert (tmp_path / "images" / f"{name}.png").stat().st_size > 2_000


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<script>console.error('broken')</script>", "console: broken"),
        ("<script>nothing.at.all()</script>", "console: ReferenceError"),
        ("<img src='http://127.0.0.1:9/x.png'>", "asks for http://127.0.0.1:9/x.png"),
        ('<div class="picture"></div>', "no picture was drawn"),
    ],
)
def test_what_is_wrong_with_a_page_is_found(tmp_path: Path, body: str, message: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><title>x</title>{body}")
    done = screenshots(page)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    loader = SourceFileLoader("screenshots", str(SCREENSHOTS))
    spec = importlib.util.spec_from_loader("screenshots", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    made = module.Browser(program, str(tmp_path / "profile"))
    made.open = lambda page: module.open_page(made, page, 1100, 900, "light")
    yield made
    made.close()


def line(x: list[float], y: list[float], axis: str = "y") -> dict[str, Any]:
    return {"type": "scatter", "mode": "lines", "name": axis, "x": x, "y": y, "yaxis": axis}


def made(tmp_path: Path, *sections: Figure | Table) -> Path:
    page = tmp_path / "made.html"
    page.write_text(html.page(Document("made", sections, data=dict)).html)
    return page


def test_an_axis_is_labelled_with_its_own_values(browser: Any, tmp_path: Path) -> None:
    for high in (1.0, 2.2, 7.0, 20.0, 22.0, 200.0, 0.02):
        plot = {"data": [line([0, high], [0, high])], "layout": layout(300)}
        browser.open(made(tmp_path, Figure("one", "One", "0 to 1", plot)))
        texts = json.loads(
            browser.evaluate(
                "JSON.stringify([...document.querySelectorAll('.chart .tick')].map("
                "(one) => [one.textContent, one.getBBox().x + one.getBBox().width / 2]))"
            )
        )
        x = [(float(text.replace(",", "")), at) for text, at in texts if at > 60]
        (first, left), (last, right) = x[0], x[-1]
        assert len(x) > 2
        for value, at in x:
            place = (value - first) / (last - first)
            assert place == pytest.approx((at - left) / (right - left), abs=0.01), (high, texts)


def test_panels_that_share_an_axis_stand_above_it(browser: Any, tmp_path: Path) -> None:
    axes = {"yaxis": {"domain": [0.6, 1]}, "yaxis2": {"domain": [0, 0.4]}}
    data = [line([0, 10], [1, 2]), line([0, 10], [7, 9], "y2")]
    title = {"xaxis": {"title": {"text": "seconds"}}}
    plot = {"data": data, "layout": layout(400, **axes, **title)}
    browser.open(made(tmp_path, Figure("two", "Two", "1 to 9", plot)))
    lines = browser.evaluate(
        "Math.max(...[...document.querySelectorAll('.chart g[clip-path] path')].map("
        "(one) => one.getBBox().y + one.getBBox().height))"
    )
    titles = browser.evaluate(
        "Math.min(...[...document.querySelectorAll('.chart .title')].filter("
        "(one) => one.textContent === 'seconds').map((one) => one.getBBox().y))"
    )
    assert lines < titles


def test_paper_cuts_no_table(browser: Any, tmp_path: Path) -> None:
    columns = (Column("test", "text"), *(Column(f"a figure {at}") for at in range(24)))
    wide = Table("Wide", columns, (("U2", *["12,345,678"] * 24),))
    browser.open(made(tmp_path, wide, Figure("one", "One", "0", {"data": [line([0, 1], [0, 1])],
                                                               "layout": layout(300)})))  # fmt: skip
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=688, height=1000, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 688
    assert browser.evaluate("document.querySelector('table').getBoundingClientRect().right") <= 688
    browser.call("Emulation.setEmulatedMedia", media="screen")
    browser.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert browser.evaluate("document.querySelector('table').style.zoom") == ""
