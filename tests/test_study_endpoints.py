"""Transport libraries in studies and in `diff`: as in `run`, by digest, and loaded by workers."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sojourn
from sojourn import _core
from sojourn.authoring import build
from sojourn.cli import main
from sojourn.errors import InputError
from sojourn.running.store import Store

TEMPLATE = Path(build.__file__).parent / "endpoint_template" / "endpoint.c"
SCENARIO = """
name = "own"
duration = "1s"
warmup = "0s"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "codel"
[[flows]]
name = "download"
path = ["bottleneck"]
rtt = "40ms"
transport = "own"
app = { kind = "bulk" }
"""
USED = "queue/bottleneck/utilisation"
STUDY = f"""
name = "own"
scenario = "own.toml"
metrics = ["{USED}"]
seeds = 1
[[axes]]
name = "aqm"
key = "links.bottleneck.queue"
values = ["codel", "pie"]
"""
OWN = {"own": "libmine.so:window=12"}

needs_a_compiler = pytest.mark.skipif(
    shutil.which("cc") is None, reason="no C compiler is installed"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(SCENARIO)
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(folder: Path, old: str = "", new: str = "") -> None:
    """The template with a change, as libmine.so."""
    text = TEMPLATE.read_text().replace("@NAME@", "mine")
    assert old in text
    (folder / "mine.c").write_text(text.replace(old, new, 1) if old else text)
    build.build(folder / "mine.c")


@pytest.mark.slow
@needs_a_compiler
def test_a_study_runs_a_library_in_processes_and_keeps_it_by_its_digest(folder):
    compiled(folder)
    own = ["--endpoint", "own=libmine.so:window=12", "--jobs", "2"]
    assert main(["study", "run", "study.toml", "--store", "st", *own]) == 0
    results = sojourn.study.open_results("st", pytest.fail, endpoints=OWN)
    rows = results.to_arrow().to_pylist()
    alone = sojourn.run("own.toml", seed=1, aqms="pie", endpoints=OWN, store=None)
    assert [row["aqm"] for row in rows] == ["codel", "pie"]
    assert rows[1]["utilisation"] == alone.summary[USED]
    # Another setting and another library of this name are other runs.
    names = [{row["run"] for row in rows}]
    for change, setting in (("", 13), ("/ 2, 2 *", 12)):
        compiled(folder, change, change.replace("2,", "3,"))
        given = {"own": f"libmine.so:window={setting}"}
        found = sojourn.study.read("study.toml", endpoints=given)
        made = sojourn.study.run_study(found, "st", executor=ThreadPoolExecutor(1))
        names.append({row["run"] for row in made.to_arrow().to_pylist()})
    assert len(set.union(*names)) == 6


@pytest.mark.slow
@needs_a_compiler
def test_a_store_names_no_code_so_that_a_library_is_given_again(folder, capsys):
    compiled(folder)
    found = sojourn.study.read("study.toml", endpoints=OWN)
    sojourn.study.run_study(found, "st", executor=ThreadPoolExecutor(1))
    again = ["--endpoint", "own=libmine.so:window=12"]
    for command in (["status", "st"], ["export", "st", "t.csv"], ["resume", "st", "--jobs", "1"]):
        assert main(["study", *command]) == 2
        needed = f"give it again: --endpoint own={folder}/libmine.so:window=12"
        assert needed in capsys.readouterr().err
        assert main(["study", *command, *again]) == 0
    with pytest.raises(InputError, match="is not the library that made the runs"):
        sojourn.study.open_results("st", endpoints={"own": "libmine.so"})
    with pytest.raises(InputError, match="the study has no library for it; leave it out"):
        sojourn.study.open_results("st", endpoints={**OWN, "quic": "smoltcp"})


@needs_a_compiler
def test_a_worker_refuses_a_library_that_was_built_again(folder):
    from sojourn.study.endpoints import named_endpoints, with_libraries

    compiled(folder)
    for before in ("", "process:"):
        compiled(folder)
        libraries = named_endpoints({"own": f"{before}{OWN['own']}"})
        assert libraries[0].library == f"{before}{folder}/libmine.so:window=12"
        compiled(folder, "/ 2, 2 *", "/ 3, 2 *")
        with pytest.raises(InputError, match="has changed since the runs were planned"):
            with_libraries(_core.Scenario.load(SCENARIO), libraries)


def test_a_compiled_in_library_is_remembered_and_its_runs_are_those_of_compare(folder, monkeypatch):
    monkeypatch.setenv("SOJOURN_CACHE", str(folder / "cache"))
    given = {"own": "smoltcp:cc=reno"}
    compared = sojourn.compare("own.toml", aqms="codel,pie", seeds=1, endpoints=given)
    found = sojourn.study.read("study.toml", endpoints=given)
    made = sojourn.study.run_study(found, "st", executor=ThreadPoolExecutor(1))
    kept = {path.stem for path in Store().folder.rglob("*.run")}
    assert kept == {row["run"] for row in made.to_arrow().to_pylist()}
    assert len(compared.results) == 2
    assert sojourn.study.open_results("st").status().made == 2


@pytest.mark.parametrize(
    ("endpoint", "sentence"),
    [
        ("own=smoltcp", "point 0 (aqm dualpi2): endpoint[own]: smoltcp"),
        ("quic=smoltcp", "endpoint[quic]: no flows have this transport; known: own"),
        ("own=nginx", "endpoint[own]: unknown transport library `nginx`"),
    ],
)
def test_a_library_that_does_not_fit_is_refused_before_any_run(folder, capsys, endpoint, sentence):
    given = ["--store", "st", "--aqm", "dualpi2", "--endpoint", endpoint]
    assert main(["study", "run", "study.toml", *given]) == 2
    assert sentence in capsys.readouterr().err


def test_a_library_that_does_not_repeat_is_a_doubt_about_the_study(folder):
    from sojourn.study.doubts import doubts

    found = sojourn.study.read("study.toml", endpoints={"own": "quinn:cc=bbr"})
    made = sojourn.study.run_study(found, "st", executor=ThreadPoolExecutor(1))
    assert any("runs with one seed may differ" in text for text in doubts(made))


def test_two_aqms_are_compared_on_the_arrivals_of_a_library(folder, capsys):
    ran = sojourn.run("own.toml", endpoints={"own": "smoltcp"}, sets={"record.packets": True})
    found = sojourn.diff("codel", "pie", "own.toml", endpoints={"own": "smoltcp"})
    assert found.arrivals == ran.table("packets").num_rows and not found.warnings
    assert main(["diff", "codel", "pie", "own.toml", "--endpoint", "own=quinn:cc=bbr"]) == 0
    assert "runs with one seed may differ" in capsys.readouterr().err
    assert main(["diff", "codel", "pie", "own.toml"]) == 2
    assert "no library is given for `own`" in capsys.readouterr().err
