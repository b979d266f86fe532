"""`linerate collect`: outputs of a host in an archive, from commands that only read."""

import re
import tarfile

from tests.command import result_of

from linerate.lab.collecting import COMMANDS
from linerate.parsers.bundles import sources_of

#: Words that would change a host.
_CHANGES = re.compile(
    r"\b(?:set|add|del|clear|reset|rm|mv|tee|kill|systemctl|modprobe)\b|>(?!/dev/null)"
)


def test_commands_only_read():
    assert [one.line for one in COMMANDS if _CHANGES.search(one.line)] == []


def test_an_archive_that_explain_reads(linerate, tmp_path):
    path = tmp_path / "bundle.tar.gz"
    done = linerate("collect", "local", "-o", str(path), "--seconds", "0", "--json")
    assert done.returncode == 0, done.stderr
    written = result_of(done.stdout)
    with tarfile.open(path) as archive:
        assert tuple(archive.getnames()) == tuple(written["files"])
    assert "softnet_stat.txt" in written["files"]
    # Each was listed before it ran.
    assert "$ cat /proc/net/softnet_stat" in done.stderr
    assert all(source.mistake == "" for source in sources_of(path))
    assert linerate("explain", str(path)).returncode == 0


def test_nothing_is_written_over(linerate, tmp_path):
    path = tmp_path / "bundle.tar.gz"
    path.write_text("mine")
    done = linerate("collect", "-o", str(path))
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert path.read_text() == "mine"


def test_what_would_run(linerate):
    done = linerate("collect", "ssh://root@box", "--dry-run")
    assert done.stdout.splitlines() == [one.line for one in COMMANDS]
