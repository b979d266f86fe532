"""Files of run folders: no link is followed, and no file of a stranger is taken."""

import errno
import os
from pathlib import Path

import pytest
from tests.many_runs import make_many
from tests.unit.test_serve_api import get

from linerate.base import open_beneath
from linerate.base.open_beneath import read_beneath, status_beneath
from linerate.results.index import Index
from linerate.results.store import StoreError, load_measurement, load_run

SECRET = b"root:$6$of-no-one-else\n"


@pytest.fixture(params=["openat2", "component by component"])
def way(request, monkeypatch):
    """Both ways of opening: the second is of kernels and containers without the first."""
    if request.param != "openat2":

        def refused(_base, name):
            raise OSError(errno.ENOSYS, "no such call", name)

        monkeypatch.setattr(open_beneath, "_openat2", refused)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    make_many(folder, 1)
    return folder


def run_in(runs):
    return next(runs.glob("2*"))


@pytest.mark.usefixtures("way")
class TestOpening:
    def test_a_file_below_is_read(self, tmp_path):
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "b" / "c").write_bytes(b"text")
        assert read_beneath(tmp_path, "a/b/c", 4) == b"text"
        with pytest.raises(OSError, match="more than 3 bytes"):
            read_beneath(tmp_path, "a/b/c", 3)
        status = status_beneath(tmp_path, "a/b/c")
        assert status is not None
        assert status.st_size == 4

    def test_the_folder_itself_may_be_reached_by_a_link(self, tmp_path):
        (tmp_path / "real").mkdir()
        (tmp_path / "real" / "file").write_bytes(b"text")
        (tmp_path / "link").symlink_to("real")
        assert read_beneath(tmp_path / "link", "file", 100) == b"text"

    def test_nothing_leads_out(self, tmp_path, secret):
        base = tmp_path / "base"
        (base / "real").mkdir(parents=True)
        (base / "real" / "file").write_bytes(b"text")
        (base / "file").symlink_to(secret)
        (base / "folder").symlink_to(tmp_path)
        (base / "inside").symlink_to("real/file")
        for name in ("file", "folder/secret", "../secret", "real/../../secret", str(secret),
                     "inside"):  # fmt: skip
            with pytest.raises(OSError, match="link"):
                read_beneath(base, name, 100)
            assert status_beneath(base, name) is None

    def test_what_is_no_file_is_refused_at_once(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "folder").mkdir()
        for name in ("pipe", "folder"):
            with pytest.raises(OSError, match="not a regular file"):
                read_beneath(tmp_path, name, 100)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_a_file_of_a_stranger_is_refused(self, tmp_path):
        file = tmp_path / "file"
        file.write_bytes(b"text")
        os.chown(file, 4242, 4242)
        with pytest.raises(OSError, match="belongs to user 4242"):
            read_beneath(tmp_path, "file", 100)
        # Whoever names a folder takes what its owner put there.
        os.chown(tmp_path, 4242, 4242)
        assert read_beneath(tmp_path, "file", 100) == b"text"


def test_descriptors_are_given_back(tmp_path, way):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link").symlink_to("nowhere")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("a/link", "a/none", "a", "a/none/none"):
        assert status_beneath(tmp_path, name) is None
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_no_page_nor_interface_shows_what_a_link_leads_to(runs, secret):
    name = run_in(runs).name
    for file in ("run.json", "live.jsonl"):
        (run_in(runs) / file).unlink(missing_ok=True)
        (run_in(runs) / file).symlink_to(secret)
    for path in ("/", f"/runs/{name}", f"/runs/{name}/report.html", f"/api/runs/{name}",
                 "/api/runs"):  # fmt: skip
        _, _, text = get(runs, path)
        assert SECRET.strip() not in text
    status, _, text = get(runs, f"/api/runs/{name}")
    assert (status, b"no run.json" in text) == (404, True)


def test_a_folder_that_is_a_link_is_no_run(runs, tmp_path):
    make_many(tmp_path / "other", 1)
    (runs / "elsewhere").symlink_to(next((tmp_path / "other").glob("2*")))
    index = Index(runs)
    index.refresh()
    row = index.row("elsewhere")
    assert row is None or (row["status"], "link" in row["problem"]) == ("broken", True)
    assert get(runs, "/api/runs/elsewhere")[0] == 404


def test_only_runs_are_served(runs):
    name = run_in(runs).name
    (run_in(runs) / "run.json").write_bytes(SECRET)
    status, _, text = get(runs, f"/api/runs/{name}")
    assert status == 422
    assert SECRET.strip() not in text


def test_reports_of_a_folder_follow_no_link(runs, secret):
    folder = run_in(runs)
    trial = load_run(folder).results[0].trial
    evidence = folder / "evidence" / f"{trial}.json"
    evidence.unlink(missing_ok=True)
    evidence.parent.mkdir(exist_ok=True)
    evidence.symlink_to(secret)
    with pytest.raises(StoreError, match="link"):
        load_measurement(folder, trial)
    with pytest.raises(StoreError, match="link"):
        load_measurement(folder, "../../../secret")
    (folder / "run.json").unlink()
    (folder / "run.json").symlink_to(secret)
    with pytest.raises(StoreError, match="link"):
        load_run(folder)
