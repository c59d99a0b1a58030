"""The steps of the sample project's CI files, executed here, with and without a regression."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

import sojourn
from test_router import needs_spaces

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "examples" / "ci"
FETCHED = ("actions/checkout", "actions/setup-python", "actions/cache")
ACTION = PROJECT / ".github/actions/sojourn-test/action.yml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shutil.copytree(PROJECT, tmp_path / "project")


def execute(script: str, project: Path, env: dict[str, str] | None = None) -> int:
    """Run a step as a runner does, with the commands of this environment."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    offline = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=project, capture_output=True, text=True,
        env=os.environ | offline | {"PATH": path} | (env or {}), check=False, timeout=600,
    )  # fmt: skip
    print(done.stdout, done.stderr)
    return done.returncode


def steps_of(project: Path, workflow: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Name, script and environment of every step; the steps of our action replace its use."""
    for step in workflow["jobs"]["network"]["steps"]:
        if "run" in step:
            yield step["name"], step["run"], {}
        elif step["uses"].startswith("./"):
            action = yaml.safe_load((project / step["uses"] / "action.yml").read_text())
            given = {name: put["default"] for name, put in action["inputs"].items()}
            given |= step.get("with", {})
            for inner in action["runs"]["steps"]:
                if "uses" in inner:
                    assert inner["uses"].partition("@")[0] in FETCHED
                    continue
                env = {
                    key: given[text.removeprefix("${{ inputs.").removesuffix(" }}")]
                    for key, text in inner["env"].items()
                }
                yield f"{step['name']}: {inner['name']}", inner["run"], env
        else:
            assert step["uses"].partition("@")[0] in FETCHED


def github(project: Path, *, without: tuple[str, ...] = ("router", "Rust")) -> dict[str, int]:
    """The exit codes of the workflow's steps, by name. The omitted steps have separate tests."""
    workflow = yaml.safe_load((project / ".github/workflows/network.yml").read_text())
    summary = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    return {
        name: execute(script, project, env | summary)
        for name, script, env in steps_of(project, workflow)
        if not any(word in name for word in without)
    }


def outcomes(project: Path, *files: str) -> list[tuple[int, int]]:
    """The number of tests and failures in each JUnit file."""
    suites = [next(ET.parse(project / file).getroot().iter("testsuite")) for file in files]
    return [(int(suite.get("tests", 0)), int(suite.get("failures", 0))) for suite in suites]


def double_the_targets(project: Path) -> None:
    """The regression: the targets of the scenario, of the project's AQM and of its transport."""
    places = {
        "home.scenario.toml": '"5ms"',
        "step.py": '"5ms"',
        "transport/tests/network.rs": "=5ms",
    }
    for name, target in places.items():
        text = (project / name).read_text()
        assert text.count(target) == 1
        (project / name).write_text(text.replace(target, target.replace("5", "10")))


def gitlab_variables(project: Path, job: dict[str, Any]) -> dict[str, str]:
    """Its variables as GitLab's runner sets them."""
    return {
        name: text.replace("$CI_PROJECT_DIR", str(project))
        for name, text in job["variables"].items()
    }


def test_ci_pins_this_version_and_every_action() -> None:
    action = yaml.safe_load(ACTION.read_text())
    pinned = f"sojourn=={sojourn.__version__}"
    assert action["inputs"]["package"]["default"] == pinned
    job = yaml.safe_load((PROJECT / ".gitlab-ci.yml").read_text())["network"]
    assert pinned in job["script"][0].split()
    workflow = yaml.safe_load((PROJECT / ".github/workflows/network.yml").read_text())
    steps = [*workflow["jobs"]["network"]["steps"], *action["runs"]["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert all(re.fullmatch(r"\./.+|[\w./-]+@v\d+", each) for each in used), used


@pytest.mark.slow
def test_the_cached_folder_of_the_action_holds_the_runs(project: Path) -> None:
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    (cached,) = [step["with"]["path"] for step in steps if "uses" in step]
    home = project / "home"
    given = {"HOME": str(home), "XDG_CACHE_HOME": "", "SOJOURN_CACHE": ""}
    env = given | {"FILES": ".", "JUNIT": "sojourn.xml"}
    assert execute(steps[-1]["run"], project, env) == 0
    kept = home / cached.removeprefix("~/")
    assert len(list(kept.rglob("*.run"))) == 16, "two AQMs under eight seeds"


@pytest.mark.long
@pytest.mark.nightly
def test_the_github_workflow_passes_and_finds_a_doubled_target(project: Path) -> None:
    assert set(github(project).values()) == {0}
    assert outcomes(project, "scenarios.xml", "python.xml") == [(2, 0), (4, 0)]
    assert "### 2 passed" in (project / "summary.md").read_text()
    double_the_targets(project)
    codes = github(project)
    assert [name for name, code in codes.items() if code] == ["Scenario files: Decide", "Python"]
    assert outcomes(project, "scenarios.xml", "python.xml") == [(2, 1), (4, 2)]
    assert "### 1 failed, 1 passed" in (project / "summary.md").read_text()


@pytest.mark.long
@pytest.mark.nightly
def test_the_gitlab_template_passes_and_finds_a_doubled_target(project: Path) -> None:
    job = yaml.safe_load((project / ".gitlab-ci.yml").read_text())["network"]
    env = gitlab_variables(project, job)
    assert [execute(line, project, env) for line in job["script"]] == [0, 0, 0]
    assert list((project / ".cache" / "sojourn" / "runs").iterdir())
    double_the_targets(project)
    assert [execute(line, project, env) for line in job["script"]] == [0, 1, 1]
    assert outcomes(project, *job["artifacts"]["reports"]["junit"]) == [(2, 1), (4, 2)]


@pytest.mark.long
@pytest.mark.nightly
def test_the_transport_in_rust_passes_and_finds_a_doubled_target(project: Path) -> None:
    manifest = project / "transport" / "Cargo.toml"
    text = manifest.read_text()
    assert text.count("../../../crates/testing") == 1
    crate = ROOT / "crates" / "testing"
    manifest.write_text(text.replace("../../../crates/testing", str(crate)))
    workflow = yaml.safe_load((project / ".github/workflows/network.yml").read_text())
    steps = {name: script for name, script, _ in steps_of(project, workflow)}
    env = {"CARGO_TARGET_DIR": str(ROOT / "target" / "examples"), "CARGO_NET_OFFLINE": "true"}
    assert execute(steps["A transport in Rust"], project, env) == 0
    double_the_targets(project)
    assert execute(steps["A transport in Rust"], project, env) == 101, (
        "cargo's code of a failed test"
    )


@pytest.mark.long
@needs_spaces
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl: not installed")
def test_the_shell_program_passes_behind_the_router_and_fails_on_a_slower_link(
    project: Path,
) -> None:
    assert execute("sh link.sh", project) in (0, 123)
    text = (project / "link.sh").read_text()
    (project / "link.sh").write_text(text.replace("--rate 10mbit", "--rate 2mbit"))
    assert execute("sh link.sh", project) == 28, "curl's own code of a time that was over"
