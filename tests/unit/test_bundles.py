"""Sources of `linerate explain`: standard input, folders, archives, and what is left out."""

import io
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from tests.command import result_of

from linerate.parsers.bundles import ALL_BYTES_MAX, FILES_MAX, sources_of
from linerate.parsers.files import evidence_of_files
from linerate.parsers.text import SIZE_MAX_BYTES, TextError

CASE = Path(__file__).parents[1] / "data" / "cases" / "vpp-memif"
NAMES = ("f-acl1000.errors.txt", "f-acl1000.runtime.txt")


def as_tar(path, names=NAMES):
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.add(CASE / name, arcname=f"bundle/{name}")
    return path


def as_zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in NAMES:
            archive.write(CASE / name, name)
    return path


def as_folder(path):
    path.mkdir()
    for name in NAMES:
        (path / name).write_bytes((CASE / name).read_bytes())
    return path


@pytest.mark.parametrize(
    ("make", "name"), [(as_tar, "b.tgz"), (as_zip, "b.zip"), (as_folder, "bundle")]
)
def test_an_archive_is_as_good_as_its_files(tmp_path, make, name):
    one_by_one = evidence_of_files([CASE / one for one in NAMES])
    together = evidence_of_files([make(tmp_path / name)])
    assert len(together.workers) == len(one_by_one.workers) > 0
    assert [loss.packets for loss in together.losses] == [
        loss.packets for loss in one_by_one.losses
    ]


def test_what_can_not_be_read_is_left_out_and_named(tmp_path):
    folder = as_folder(tmp_path / "bundle")
    (folder / "notes.txt").write_text("it was slow since Tuesday\n")
    (folder / "core").write_bytes(b"\x7fELF\0\0\0")
    found = evidence_of_files([folder])
    assert found.workers
    assert found.left_out == (
        "core: not a text, expected what a command prints",
        "notes.txt: nothing that linerate can read",
    ) or [one.partition(": ")[2] for one in found.left_out] == [
        "not a text, expected what a command prints",
        "nothing that linerate can read",
    ]


def test_one_line_when_nothing_can_be_read(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("no output of anything\n")
    with pytest.raises(TextError) as caught:
        evidence_of_files([tmp_path / "a.txt", tmp_path / "b.txt"])
    assert "\n" not in str(caught.value)
    assert "nor in 1 more files" in str(caught.value)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"{number}.txt", bytes(SIZE_MAX_BYTES))
    *_, last = sources_of(path)
    assert f"over {ALL_BYTES_MAX >> 20} MiB" in last.mistake


def test_too_many_files_are_refused(tmp_path):
    path = tmp_path / "many.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(FILES_MAX + 2):
            member = tarfile.TarInfo(f"{number}.txt")
            member.size = 2
            archive.addfile(member, io.BytesIO(b"1\n"))
    *_, last = sources_of(path)
    assert f"{FILES_MAX} files" in last.mistake


def test_a_cut_archive_says_so(tmp_path):
    path = as_tar(tmp_path / "cut.tgz")
    path.write_bytes(path.read_bytes()[:200])
    *_, last = sources_of(path)
    assert "no whole archive" in last.mistake


def test_links_in_an_archive_lead_nowhere(tmp_path):
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            member = tarfile.TarInfo("../../etc/passwd")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    assert list(sources_of(path)) == []


def explain(*arguments, text=None):
    return subprocess.run(
        [sys.executable, "-m", "linerate", "explain", *map(str, arguments)],
        input=text,
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_standard_input():
    done = explain("-", "--json", text=(CASE / "f-acl1000.runtime.txt").read_bytes())
    found = result_of(done.stdout)
    assert found["verdict"]["limit"] == "worker-cpu"
    assert found["verdict"]["evidence"][0]["source"] == "standard input"


def test_markdown_for_an_issue(linerate, tmp_path):
    done = linerate("explain", str(as_tar(tmp_path / "b.tgz")), "--markdown")
    assert done.returncode == 0
    for heading in (
        "# Verdict",
        "**worker-cpu**",
        "### Evidence",
        "### What to try",
        "### Ceilings",
    ):
        assert heading in done.stdout
    assert "bundle/f-acl1000.runtime.txt:" in done.stdout
    assert "### What to send next" in done.stdout


@pytest.mark.parametrize("content", [b"A" * 80 + b"\n", bytes(range(256))])
def test_huge_and_binary_files_end_in_one_line(tmp_path, content):
    path = tmp_path / "huge.log"
    path.write_bytes(content * (200 * 2**20 // len(content)))
    began = time.monotonic()
    done = explain(path)
    assert done.returncode == 1
    assert len(done.stderr.decode().strip().splitlines()) == 1
    assert str(path) in done.stderr.decode()
    assert time.monotonic() - began < 60
