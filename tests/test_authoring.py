"""`sojourn new`, `build` and `check`: a custom law from the first file to its page."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import sojourn
from processes import ended
from sojourn.authoring import check as checking
from sojourn.authoring import check_scenarios
from sojourn.authoring import new as beginning
from sojourn.authoring.cells import Finding, WorldResult
from sojourn.authoring.check import Checked, check
from sojourn.authoring.check_page import page, save
from sojourn.cli import main

ROOT = Path(__file__).parent.parent
SETS = {"duration": "5s", "warmup": "1s"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def digest(aqm: str) -> str:
    return sojourn.run("dumbbell-reno", aqms=aqm, sets=SETS).digest


def test_a_new_law_in_python_runs_at_once(here, capsys):
    assert main(["new", "aqm", "short_queue", "--python"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "short_queue/short_queue.py"
    assert digest("short_queue/short_queue.py:ShortQueue:target=8ms")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_a_new_law_in_c_builds_and_decides_as_the_one_in_python(here):
    for language in ("--c", "--python"):
        assert main(["new", "aqm", "mine", language, "--out", language[2:]]) == 0
    assert main(["build", "c"]) == 0
    assert digest("c/libmine.so:target=8ms") == digest("python/mine.py:target=8ms")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust toolchain is installed")
def test_a_new_law_in_rust_builds_and_decides_as_the_one_in_python(here, monkeypatch):
    monkeypatch.setenv("CARGO_TARGET_DIR", str(ROOT / "target" / "own-law"))
    for language in ("--rust", "--python"):
        assert main(["new", "aqm", "mine", language, "--out", language[2:]]) == 0
    assert main(["build", "rust"]) == 0
    assert digest("rust/libmine.so:target=8ms") == digest("python/mine.py:target=8ms")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_a_build_adds_the_library_alone_and_removes_what_a_killed_one_left(here):
    main(["new", "aqm", "mine", "--c"])
    before = set((here / "mine").iterdir())
    host = re.sub(r"[^A-Za-z0-9-]", "-", os.uname().nodename)
    left = here / "mine" / f".libmine.so.{host}.{ended()}.{'0' * 16}.tmp"
    left.write_bytes(b"half")
    assert main(["build", "mine"]) == 0
    assert set((here / "mine").iterdir()) == before | {here / "mine" / "libmine.so"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("new aqm 9lives --c", "cannot be a name"),
        ("new aqm mine", "Give one language"),
        ("new aqm mine --c --rust", "Give one language"),
        ("new aqm none --python", "law none: is a word of Python"),
        ("new aqm head --rust", "law head: is a word of Rust"),
        ("new aqm pie --c", "law pie: an AQM has that name"),
        ("new aqm full --c", "exists and is not empty"),
        ("new aqm mine --c --source full", "--source goes with --rust"),
        (
            "new aqm mine --rust --source full",
            "is not a source tree of Sojourn: it lacks Cargo.toml",
        ),
        ("new endpoint 9lives --c", "endpoint 9lives: cannot be a name"),
        ("new endpoint mine", "Give one language"),
        ("new endpoint mine --python", "transport libraries are in C or Rust"),
        ("new endpoint span --rust", "endpoint span: is a word of Rust"),
        ("new endpoint full --c", "exists and is not empty"),
        ("build no", "no such folder or file"),
        ("build full", "give a folder with a Cargo.toml"),
        ("build wrong.c", "does not compile"),
    ],
)
def test_what_cannot_be_begun_or_built_is_refused(here, capsys, words, sentence):
    (here / "full").mkdir()
    (here / "full" / "notes.txt").write_text("notes")
    (here / "wrong.c").write_text("this is not C")
    assert main(words.split()) == 2
    assert sentence in capsys.readouterr().err


ENDPOINTS = """
name = "own"
duration = "4s"
[links.b]
rate = "10mbit"
queue = "codel"
[[flows]]
path = ["b"]
rtt = "40ms"
count = 3
transport = "own"
app = { kind = "bulk" }
"""


def over(library: str) -> str:
    """The digest of a run over a transport library."""
    scenario = sojourn.Scenario.load(ENDPOINTS)
    return sojourn.run(scenario, endpoints={"own": library}).digest


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_a_new_transport_library_in_c_builds_and_runs(here, capsys):
    assert main(["new", "endpoint", "mine", "--c"]) == 0
    assert capsys.readouterr().out.splitlines() == ["mine/mine.c", "mine/README.md"]
    assert main(["build", "mine"]) == 0
    assert over("mine/libmine.so") == over("mine/libmine.so") != over("mine/libmine.so:window=3")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Rust toolchain is installed")
def test_a_new_transport_library_in_rust_builds_and_sends_as_the_one_in_c(here, monkeypatch):
    monkeypatch.setenv("CARGO_TARGET_DIR", str(ROOT / "target" / "own-law"))
    for language in ("--rust", "--c"):
        assert main(["new", "endpoint", "mine", language, "--out", language[2:]]) == 0
        assert main(["build", language[2:]]) == 0
    assert over("rust/libmine.so") == over("c/libmine.so")
    tested = ["cargo", "test", "--quiet", "--manifest-path", "rust/Cargo.toml"]
    assert subprocess.run(tested, check=False).returncode == 0
    panics = (here / "rust" / "src" / "lib.rs").read_text().replace(
        "self.highest = self.highest.max", 'assert!(now < Time::from_nanos(1_000_000_000), "late");'
        "\n                self.highest = self.highest.max",
    )  # fmt: skip
    (here / "rust" / "src" / "lib.rs").write_text(panics)
    assert main(["build", "rust"]) == 0
    with pytest.raises(sojourn.ScenarioError, match=r"output: it panicked: late \(src/lib.rs:"):
        over("rust/libmine.so")


def test_a_law_in_rust_needs_the_source_tree_named_for_an_installed_package(here, monkeypatch):
    monkeypatch.setattr(beginning, "source_tree", lambda: None)
    with pytest.raises(sojourn.InputError, match="--source FOLDER"):
        beginning.new("mine", "rust")
    assert not (here / "mine").exists()
    beginning.new("mine", "rust", source=ROOT)
    assert f'path = "{ROOT}/crates/law"' in (here / "mine" / "Cargo.toml").read_text()


def test_the_header_of_the_package_is_that_of_the_crate():
    own = ROOT / "python" / "sojourn" / "authoring" / "sojourn_law.h"
    assert own.read_bytes() == (ROOT / "crates" / "law" / "include" / "sojourn_law.h").read_bytes()


def test_a_quick_check_of_a_law_of_ones_own_prints_every_promise(here, capsys, monkeypatch):
    monkeypatch.setattr(checking, "OPERATIONS", 100_000)
    assert main(["new", "aqm", "mine", "--python"]) == 0
    capsys.readouterr()
    assert main(["check", "mine/mine.py", "--quick", "--out", "check"]) == 0
    shown = capsys.readouterr().out
    assert len(re.findall(r"^(holds|-) ", shown, re.MULTILINE)) == 8
    facts = json.loads((here / "check" / "check.json").read_text())
    assert facts["kept"]
    assert facts["source"].startswith("python:mine.py:Mine sha256=")


def test_a_check_that_finds_a_broken_promise_says_so_in_its_exit_code(here, capsys, monkeypatch):
    monkeypatch.setattr(checking, "OPERATIONS", 100_000)
    assert main(["new", "aqm", "mine", "--python"]) == 0
    file = here / "mine" / "mine.py"
    file.write_text(file.read_text().replace("head.sojourn_ns / 1e9", "float('nan')"))
    assert main(["check", "mine/mine.py", "--quick"]) == 1
    assert "the state variable sojourn is NaN; it must be finite" in capsys.readouterr().out


def cell(delay_s: float) -> WorldResult:
    others = {"class/long/goodput": 3e6, "class/short/goodput": 6e6, "class/call/loss_rate": 0.01}
    return WorldResult(delay_s / 2, delay_s, 0.9, 0.8, 0.5, others)


def checked() -> Checked:
    aqms = ["own", "codel", "pie", "fq_codel"]
    grid = {
        aqm: {
            (n, rtt): cell(n * 1e-3)
            for n in check_scenarios.FLOWS
            for rtt in check_scenarios.RTTS_MS
        }
        for aqm in aqms
    }
    others = {aqm: {name: cell(0.1) for name in check_scenarios.OTHERS} for aqm in aqms}
    findings = [Finding("a promise", True, "by a test"), Finding("another", None, "not here")]
    sentences = check_scenarios.sentences(grid, others, 5e-3)
    said = "sojourn check own.py"
    return Checked("own", "a test", "A law", 5e-3, findings, aqms, grid, others, sentences, said)


def test_a_check_names_the_command_that_makes_it_again():
    assert check("codel:target=6ms", quick=True, operations=100).command == (
        "sojourn check codel:target=6ms --quick --operations 100"
    )


def test_the_sentences_name_the_cells_above_target_and_every_aqm():
    said = checked().sentences
    assert said[0].startswith(
        "Target: the median delay exceeds twice the target of 5 ms in 4 of 16"
    )
    assert "50 flows at 200 ms" in said[0]
    assert "33 % under own" in said[4]
    assert all("fq_codel" in sentence for sentence in said[1:])


@pytest.mark.slow
def test_the_page_shows_every_finding_and_a_heat_map_for_each_measure(tmp_path):
    text = page(checked())
    assert text.count("<svg") == 3
    assert "does not apply" in text
    assert "by a test" in text
    assert not re.search(r"https?:", re.sub(r"http://www\.w3\.org\S*", "", text))
    assert 'content="default-src &#39;none&#39;' in text
    save(checked(), tmp_path)
    assert json.loads((tmp_path / "check.json").read_text())["grid"]["own"][0]["flows"] == 1
