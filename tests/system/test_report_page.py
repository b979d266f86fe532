"""The page in a real browser: it draws, says no error, asks for nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest

from linerate.report import bench
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
