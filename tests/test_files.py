"""Files that are complete or missing, folders with one writer, and reading results back."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

import sojourn
from processes import ended, wait_for
from sojourn import files
from sojourn.cli import main
from sojourn.errors import InputError
from sojourn.locking import LOCK
from sojourn.running import doctor, store
from sojourn.study.folder import open_folder

pytestmark = pytest.mark.slow

LONG = ("run", "dumbbell-cubic", "--fresh", "--set", "duration=100000s", "--out", "out")


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sojourn", *arguments], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "file"
    with pytest.raises(RuntimeError), files.Together() as together:
        with together.open(path) as file:
            file.write(b"half")
            assert not path.exists()
        raise RuntimeError
    assert list(path.parent.iterdir()) == []
    files.write(path, "whole")
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["pipe", "link", "folder"])
def test_a_file_does_not_replace_a_pipe_or_folder(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="is not a regular file, which would be replaced"):
        files.write(tmp_path / name, "text")
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout"])
def test_devices_are_not_replaced(name):
    with pytest.raises(OSError, match="is not a regular file"):
        files._check_replaceable(Path(name))


def test_making_a_folder_that_is_a_file_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        files.make_folder(tmp_path / "file" / "below")


def test_nothing_is_written_through_a_link_that_waits_at_the_temporary_name(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "urandom", bytes)
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    host = files._host()
    (tmp_path / f".file.{host}.{os.getpid()}.{'0' * 16}.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError):
        files.write(tmp_path / "file", "anything")
    assert victim.read_text() == "untouched"


def test_what_a_killed_writer_left_is_removed_and_what_another_machine_writes_stays(tmp_path):
    host = files._host()
    dead_pid = ended()
    dead = tmp_path / "runs" / f".packets.parquet.{host}.{dead_pid}.{'a' * 16}.tmp"
    alive = tmp_path / f".summary.parquet.{host}.{os.getpid()}.{'a' * 16}.tmp"
    elsewhere = tmp_path / f".summary.parquet.another.{dead_pid}.{'a' * 16}.tmp"
    own = tmp_path / ".notes.tmp"
    dead.parent.mkdir()
    for path in (dead, alive, elsewhere, own):
        path.write_text("half")
    with files.writing_to(tmp_path):
        pass
    assert not dead.exists()
    assert alive.exists()
    assert elsewhere.exists()
    assert own.exists()


def test_what_another_machine_has_not_written_to_for_an_hour_is_removed(tmp_path):
    silent, writing = (tmp_path / f".{n}.another.1.{'a' * 16}.tmp" for n in ("silent", "writing"))
    for path, age_s in ((silent, 3700), (writing, 3500)):
        path.touch()
        os.utime(path, (time.time() - age_s,) * 2)
    files.remove_leftovers(tmp_path.glob(".*.tmp"))
    assert not silent.exists()
    assert writing.exists()


def test_the_lock_of_a_study_removes_what_killed_writers_left(tmp_path):
    left = tmp_path / "fragments" / f".a.{files._host()}.{ended()}.{'a' * 16}.tmp"
    left.parent.mkdir()
    left.touch()
    with open_folder(tmp_path).lock():
        assert not left.exists()


def test_what_a_killed_writer_of_the_cores_digest_left_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path))
    left = tmp_path / f".{store.CORE}.{files._host()}.{ended()}.{'a' * 16}.tmp"
    left.touch()
    kept = store.simulator.__wrapped__()
    assert not left.exists()
    assert store.simulator.__wrapped__() == kept, "it is read where it was kept"


def test_a_lock_that_cannot_be_written_is_not_left_behind(tmp_path):
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from sojourn.locking import locked\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "with locked(Path(sys.argv[1]), '--out'): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE, text=True, check=False
    )
    assert f"File too large: {str(tmp_path)!r}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_two_processes_do_not_write_to_one_folder(command):
    with start(command.folder, *LONG) as first:
        lock = command.folder / "out" / LOCK
        assert wait_for(lambda: lock.exists() and lock.read_text())
        message = command.refused("run", "small.toml", "--out", "out")
        assert f"--out out: process {first.pid} on " in message
        assert "since" in message
        assert "give another folder" in message
        first.kill()
    # The system has released the lock of a process that was killed.
    assert command("run", "small.toml", "--out", "out").returncode == 0
    assert not lock.exists()


def test_the_folder_is_held_from_runs_to_report_within_one_thread_and_against_others(tmp_path):
    refused: list[str] = []

    def intrude() -> None:
        try:
            with files.writing_to(tmp_path):
                pass
        except InputError as error:
            refused.append(str(error))

    with files.writing_to(tmp_path), files.writing_to(tmp_path):
        other = threading.Thread(target=intrude)
        other.start()
        other.join()
    assert len(refused) == 1
    assert "another thread" in refused[0]
    intrude()
    assert len(refused) == 1


def test_a_comparison_holds_its_folder_between_its_runs_and_its_report(command, monkeypatch):
    planned = importlib.import_module("sojourn.comparing.planned").Planned
    run, held = planned.run, []
    out = command.folder / "out"

    def watched(*arguments, **options):
        comparison = run(*arguments, **options)
        held.append((out / LOCK).exists())
        return comparison

    monkeypatch.setattr(planned, "run", watched)
    small = str(command.folder / "small.toml")
    words = ["compare", small, "--aqm", "codel,pie", "--set", "duration=300ms", "--seeds", "1"]
    assert main([*words, "--jobs", "1", "--format", "svg", "--out", str(out)]) == 0
    assert held == [True]
    assert not (out / LOCK).exists()


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT])
def test_a_command_that_is_ended_leaves_nothing(command, ended_by):
    with start(command.folder, *LONG) as process:
        lock = command.folder / "out" / LOCK
        assert wait_for(lambda: lock.exists() and lock.read_text())
        process.send_signal(ended_by)
        assert process.wait(20) == 130
        assert "interrupted" in process.stderr.read()
    assert not (command.folder / "out").exists()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_end_no_command(command, closed):
    line = f'exec "{sys.executable}" -m sojourn run small.toml --out out {closed}'
    done = subprocess.run(["sh", "-c", line], cwd=command.folder, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (command.folder / "out" / files.MANIFEST).exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run small.toml >/dev/full", "error: standard output or a temporary file: No space left"),
        ("run no.toml 2>/dev/full", ""),
    ],
)
def test_a_full_device_behind_a_stream_is_bad_input(command, line, said):
    line = f'exec "{sys.executable}" -m sojourn {line}'
    done = subprocess.run(["sh", "-c", line], cwd=command.folder, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_error_for_a_user_without_a_home_says_what_to_set(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(InputError, match=r"no home folder.*; set XDG_CACHE_HOME to a folder"):
        files.user_cache()
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # XDG: invalid, as if it were not set
    with pytest.raises(InputError, match="no home folder"):
        files.user_cache()
    monkeypatch.delenv("SOJOURN_CACHE", raising=False)
    found = {check.name: check for check in doctor.examine()}
    assert found["engine sim"].state == "ok"
    assert found["store of runs"].found == "this user has no home folder"
    assert "SOJOURN_CACHE" in found["store of runs"].remedy


def test_names_that_are_not_utf8_are_names_like_others(command):
    name = os.fsdecode(b"small-\xff.toml")
    (command.folder / "small.toml").rename(command.folder / name)
    done = command("run", name, "--out", os.fsdecode(b"out-\xff"))
    assert done.returncode == 0, done.stderr
    assert (command.folder / os.fsdecode(b"out-\xff") / files.MANIFEST).exists()
    assert "small-\\xff.toml: valid" in command("validate", name).stdout


def test_a_message_about_a_name_that_is_not_utf8_shows_its_bytes_as_escapes(command):
    name = os.fsdecode(b"no-\xff")
    assert "no-\\xff: no such file, and no shipped" in command.refused("run", name)
    # This is a system error, which has the name of the file.
    below = os.fsdecode(b"/proc/\xff")
    message = command.refused("study", "begin", "aqm-load-rtt", "--store", below)
    assert "/proc/\\xff" in message
    assert "UnicodeEncodeError" not in message


@pytest.mark.parametrize("word", ["--set=name=\udcff", "--set=\udcff=1"])
def test_a_word_that_is_not_utf8_is_refused(command, word):
    assert "is not UTF-8 text" in command.refused("run", "small.toml", word)


def test_only_regular_files_are_read_and_a_pipe_comes_as_standard_input(command):
    os.mkfifo(command.folder / "pipe")
    for source in ("/dev/zero", "pipe"):
        message = command.refused("run", source)
        assert "is not a regular file; for what a pipe brings, give - as the file" in message
    text = (command.folder / "small.toml").read_text()
    assert "digest" in command("run", "-", input=text).stdout


def test_a_study_is_a_regular_file_too(command):
    os.mkfifo(command.folder / "pipe")
    assert "pipe: is not a regular file" in command.refused("study", "plan", "pipe")


def test_a_trace_is_a_regular_file_too(command):
    rate = '{ kind = "trace", file = "/dev/zero" }'
    message = command.refused("run", "small.toml", "--set", f"links.bottleneck.rate={rate}")
    assert "/dev/zero" in message
    assert "is not a regular file" in message


@pytest.mark.parametrize(
    "words",
    [
        ("run", "small.toml", "--aqm", "pipe.py:Law"),
        ("run", "small.toml", "--aqm", "./libpipe.so"),
        ("check", "tcp", "--scripts", "."),
        ("study", "plan", "study.toml"),
        ("tune", "pipe.toml", "--store", "s"),
    ],
)
def test_a_pipe_in_the_place_of_any_file_is_refused_at_once(command, words):
    for name in ("pipe.py", "libpipe.so", "pipe.pkt", "pipe.toml", "base.toml"):
        (command.folder / name).unlink(missing_ok=True)
        os.mkfifo(command.folder / name)
    (command.folder / "study.toml").write_text(
        'name = "s"\nscenario = "base.toml"\nmetrics = ["goodput"]\nseeds = 1\n'
        '[[axes]]\nname = "a"\nkey = "flows.bulk.count"\nvalues = [1]\n'
    )
    message = command.refused(*words)
    assert any(why in message for why in ("not a regular file", "no such file")), message


def test_a_file_in_the_place_of_a_store_is_refused(command):
    message = command.refused("study", "begin", "aqm-load-rtt", "--store", "small.toml")
    assert "--store small.toml: is a file; give a folder" in message


def test_a_refusal_quotes_nothing_of_a_file_that_a_scenario_names(command):
    (command.folder / "secret").write_text("root:x:hash\n")
    rate = '{ kind = "trace", file = "secret" }'
    message = command.refused("run", "small.toml", "--set", f"links.bottleneck.rate={rate}")
    assert "line 1: not a whole number of milliseconds" in message
    assert "root" not in message


def test_standard_input_without_an_end_is_refused(command):
    with Path("/dev/zero").open("rb") as endless:
        message = command.refused("run", "-", stdin=endless)
    assert "has more than the 100 MB that a scenario may have" in message


def test_reading_a_small_scenario_takes_little_memory(command):
    tracemalloc.start()
    sojourn.load(command.folder / "small.toml")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


def test_too_little_memory_is_said_in_a_sentence(command, monkeypatch, capsys):
    def exhausted(*_arguments, **_options):
        raise MemoryError

    module = importlib.import_module("sojourn.cli.compare")
    monkeypatch.setattr(module, "plan", exhausted)
    assert main(["compare", str(command.folder / "small.toml"), "--aqm", "codel,pie"]) == 1
    said = capsys.readouterr().err
    assert "sojourn: error: the memory that this process may have is used up" in said
    assert "Traceback" not in said


def test_neither_a_manifest_nor_a_comparison_is_a_scenario(command):
    assert command("run", "small.toml", "--out", "out").returncode == 0
    message = command.refused("run", "out/manifest.json")
    assert "is the manifest of a run, not a scenario" in message
    aqms = ("--aqm", "taildrop,pie", "--seeds", "1")
    assert command("compare", "small.toml", *aqms, "--out", "both").returncode == 0
    message = command.refused("run", "both/comparison.json")
    assert "is the report of a comparison, not a scenario" in message


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "a" * 5000),
        ("run", "small.toml", "--set", f"name={'a' * 5000}=1", "--set", f"{'b' * 5000}=1"),
        ("compare", "small.toml", "--aqm", "c" * 5000),
        ("explain", "d" * 5000),
        ("stability", "pie", "--rtt", "100ms", "--rate", "10mbit", "--flows", f"1..{'1' * 5000}"),
    ],
)
def test_refusals_do_not_echo_thousands_of_characters(command, arguments):
    message = command.refused(*arguments)
    assert len(message) < 1500
    assert "characters)" in message


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "a\x1b[31m.toml"),
        ("run", "small.toml", "--set", "name='a\x9b31m'", "--set", "a\x1b[31m=1"),
        ("run", "small.toml", "--set", 'name="a\\u001b[31m"'),
        ("explain", "pie.\x1b]0;title\x07"),
    ],
)
def test_refusals_do_not_act_on_the_terminal(command, arguments):
    message = command.refused(*arguments)
    assert message.isprintable()
    assert "\\u{1b}" in message or "has control characters" in message


@pytest.mark.parametrize("seed", [str(2**64), "9" * 20, "-1"])
def test_a_seed_beyond_64_bits_is_refused(command, seed):
    done = command("run", "small.toml", f"--seed={seed}")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(2**64 - 1) in done.stderr


def test_a_part_of_a_page_is_replaced_where_its_marks_stand_once(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- a -->\nold\n<!-- b -->\nbelow\n")
    files.replace_between(page, "<!-- a -->\n", "<!-- b -->\n", "new\n")
    assert page.read_text() == "above\n<!-- a -->\nnew\n<!-- b -->\nbelow\n"
    for text in ("no marks\n", "<!-- b -->\n<!-- a -->\n", 2 * page.read_text()):
        page.write_text(text)
        with pytest.raises(ValueError, match="has no place between <!-- a --> and <!-- b -->"):
            files.replace_between(page, "<!-- a -->\n", "<!-- b -->\n", "")
        assert page.read_text() == text


@pytest.mark.parametrize("packets", [False, True])
def test_only_tables_with_rows_are_synced_to_disk(tmp_path, monkeypatch, packets):
    sets = {"duration": "2s", "warmup": "0s", "record.packets": packets}
    result = sojourn.run("dumbbell-reno", sets=sets, store=None)
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(file) or sync(file))
    result.save(tmp_path / "run")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert ("packets.parquet" in names) == packets
    assert len(names) < len(synced) <= len(names) + 2, "the files, and folders that are new"
    again = sojourn.Result.open(tmp_path / "run")
    assert again.digest == result.digest
    for table in ("states", "packets", "signals"):
        # Compared as text, because NaN is not equal to itself.
        assert repr(again.columns(table)) == repr(result.columns(table)), table
