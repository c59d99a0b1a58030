"""The command as a user sees it."""

import json
import resource
import signal
import subprocess
import sys

import pytest

import sojourn
from processes import wait_for

AQMS = "taildrop,codel,pie:target=10ms,tupdate=10ms"


def test_run_prints_the_summary_and_everything_else_on_stderr(command):
    done = command("run", "small.toml")
    assert done.returncode == 0
    assert "delay_p95" in done.stdout
    assert "digest" in done.stdout
    assert "1 of 1 run in" in done.stderr


def test_run_as_json_is_json_and_nothing_else(command):
    done = command("run", "small.toml", "--seed", "7", "--json")
    facts = json.loads(done.stdout)
    assert facts["seed"] == 7
    assert {"scope", "name", "metric", "value", "unit"} == set(facts["summary"][0])


def test_run_saves_tables_and_a_manifest(command):
    done = command("run", "small.toml", "--out", "out", "--json")
    there = {path.name for path in (command.folder / "out").iterdir()}
    assert there == {"histograms.parquet", "manifest.json", "states.parquet", "summary.parquet"}
    manifest = json.loads((command.folder / "out" / "manifest.json").read_text())
    assert manifest["digest"] == json.loads(done.stdout)["digest"]
    assert manifest["scenario"]["links"][0]["rate"] == "5mbit"


def test_a_second_result_replaces_the_first_and_the_command_says_so(command):
    first = command("run", "small.toml", "--set", "record.packets=true", "--out", "out")
    assert "earlier result" not in first.stderr
    (command.folder / "out" / "notes.txt").write_text("mine")
    second = command("run", "small.toml", "--out", "out")
    assert "earlier result" in second.stderr
    there = {path.name for path in (command.folder / "out").iterdir()}
    assert "packets.parquet" not in there
    assert "notes.txt" in there


def test_compare_prints_a_table_of_at_most_120_columns_and_conclusions(command):
    done = command("compare", "small.toml", "--aqm", AQMS, "--seeds", "3")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 120
    for word in ("queue delay p95 * [ms]", "Jain's index bulk", "one-way delay p95 voip", "Holm",
                 "Against taildrop, codel"):  # fmt: skip
        assert word in done.stdout


@pytest.mark.slow
def test_compare_saves_report_figures_numbers_and_every_run(command):
    done = command("compare", "small.toml", "--aqm", AQMS, "--seeds", "2", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    out = command.folder / "out"
    data = json.loads((out / "comparison.json").read_text())
    added = {key: data[key] for key in ("files", "checksum")}
    assert data == json.loads(done.stdout) | added
    assert data["aqms"] == ["taildrop", "codel", "pie:target=10ms,tupdate=10ms"]
    for name in data["files"]:
        assert (out / name).exists()
    for run in data["runs"]:
        manifest = json.loads((out / run["folder"] / "manifest.json").read_text())
        assert (manifest["digest"], manifest["seed"]) == (run["digest"], run["seed"])


@pytest.mark.parametrize(
    ("drawn", "damaged", "others"),
    [
        ((), ["report.html", "runs/contender=pie/replica=2/summary.parquet"],
         [["--set", "duration=9s"], ["--fresh"]]),
        pytest.param(
            ("--format", "svg"), ["figures/plane.svg"], [["--size", "column"]],
            marks=[pytest.mark.long, pytest.mark.nightly],
        ),
    ],
    ids=["report", "figures"],
)  # fmt: skip
def test_the_same_comparison_again_writes_nothing_unless_a_file_has_changed(
    command, drawn, damaged, others
):
    def compare(*more):
        said = command("compare", "small.toml", "--aqm", "codel,pie", "--seeds", "2", *drawn,
                       "--out", "out", *more)  # fmt: skip
        assert said.returncode == 0, said.stderr
        return said.stdout, "holds this comparison already" in said.stderr

    def stamps():
        found = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in found}

    folder = command.folder / "out"
    table, _ = compare()
    saved = stamps()
    assert compare() == (table, True)
    assert stamps() == saved
    for path in map(folder.joinpath, damaged):
        path.write_bytes(path.read_bytes() + b" ")
        assert compare() == (table, False), path
        assert path.read_bytes() == saved[path][1]
    for other in others:
        assert not compare(*other)[1], other


def test_aqm_may_be_repeated(command):
    done = command(
        "compare", "small.toml", "--aqm", "taildrop", "--aqm", "pie", "--seeds", "1", "--json"
    )
    assert json.loads(done.stdout)["aqms"] == ["taildrop", "pie"]


@pytest.mark.long
def test_any_number_of_jobs_gives_the_same_bytes(command):
    calls = [
        command("compare", "small.toml", "--aqm", AQMS, "--seeds", "3", "--jobs", jobs, "--json")
        for jobs in ("1", "2", "7")
    ]
    assert calls[0].stdout == calls[1].stdout == calls[2].stdout


def test_command_and_python_agree_on_the_digest(command):
    done = command("run", "small.toml", "--seed", "5", "--json")
    result = sojourn.run(command.folder / "small.toml", seed=5)
    assert json.loads(done.stdout)["digest"] == result.digest


def test_a_shipped_scenario_runs_by_name(command):
    done = command("run", "traffic-mix", "--set", "warmup=1s", "--set", "duration=2s", "--json")
    assert json.loads(done.stdout)["name"] == "traffic-mix"


@pytest.mark.slow
def test_every_shipped_scenario_but_the_templates_is_valid(command):
    names = [row["name"] for row in json.loads(command("list", "scenarios", "--json").stdout)]
    assert "traffic-mix" in names
    for name in set(names) - {"cellular", "cellular-two-way"}:
        assert command("validate", name).returncode == 0


@pytest.mark.slow
def test_lists_are_lines_or_json(command):
    for what in ("aqms", "ccs", "tcps", "scenarios", "plots"):
        lines = command("list", what).stdout.splitlines()
        rows = json.loads(command("list", what, "--json").stdout)
        assert [line.split()[0] for line in lines] == [row["name"] for row in rows]
        assert all(row["doc"] for row in rows)


@pytest.mark.parametrize(
    "topic", ["pie", "pie.target", "target", "cubic", "cubic.beta", "fq_codel"]
)
def test_explain_shows_defaults_and_sources(command, topic):
    done = command("explain", topic)
    assert done.returncode == 0
    assert "default" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert json.loads(command("explain", topic, "--json").stdout)


def test_explain_names_the_nearest_on_a_miss(command):
    assert "did you mean `pie.target`" in command.refused("explain", "pie.tarjet")
    assert "did you mean `cubic`" in command.refused("explain", "cubik")


@pytest.mark.slow
def test_every_aqm_and_control_can_be_explained():
    from sojourn.describing.explain import explain

    for entry in [*sojourn._core.aqms(), *sojourn._core.ccs()]:
        assert entry["name"] in explain(entry["name"])
        for param in entry["params"]:
            assert param["doc"] in " ".join(explain(f"{entry['name']}.{param['name']}").split())


def test_doctor_lists_engines_and_libraries(command):
    done = command("doctor")
    assert done.returncode == 0
    for word in ("engine sim", "engine linux", "numpy", "cores"):
        assert word in done.stdout
    assert json.loads(command("doctor", "--json").stdout)[0]["name"] == "sojourn"


def test_help_has_examples_and_exit_codes(command):
    top = command("--help").stdout
    for code in ("0 ", "1 ", "2 ", "130 "):
        assert f"\n    {code}" in top
    for verb in ("run", "compare", "list", "explain", "validate", "doctor", "completion"):
        assert verb in top
        assert "Example" in command(verb, "--help").stdout


def test_version(command):
    assert command("--version").stdout == f"sojourn {sojourn.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(command, shell):
    script = command("completion", shell).stdout
    assert "_SOJOURN_COMPLETE" in script


def test_completion_knows_scenarios_and_aqms(command):
    import os

    def complete(words, index):
        env = os.environ | {
            "_SOJOURN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(index)
        }  # fmt: skip
        return command(env=env).stdout

    assert "traffic-mix" in complete("sojourn run traf", 2)
    assert "pie,madpie" in complete("sojourn compare x --aqm pie,mad", 4)


def test_a_compiled_module_that_cannot_be_loaded_is_an_error_with_a_remedy():
    code = (
        "import sys; sys.modules['sojourn._core'] = None; "
        "from sojourn.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("sojourn: error: the compiled module cannot be loaded (")
    assert "pip install" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verb", [["run"], ["compare", "--aqm", "taildrop,pie"]])
def test_help_and_import_are_fast(command, verb):
    code = "import sys, sojourn.cli; print([m for m in sys.modules if '.' not in m])"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    for heavy in ("matplotlib", "pyarrow", "scipy", "numpy", "jinja2", "rich"):
        assert f"'{heavy}'" not in modules.stdout
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command(*verb, "--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The test measures CPU time, because wall time would include other load.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2.0


@pytest.mark.slow
def test_ctrl_c_keeps_and_lists_finished_runs(command):
    arguments = ["compare", "small.toml", "--aqm", "taildrop,pie", "--seeds", "2", "--jobs", "1"]
    # The first run is short; the others would last for hours.
    text = (command.folder / "small.toml").read_text().replace('"4s"', '"2000000s"')
    (command.folder / "long.toml").write_text(text)
    arguments[1] = "long.toml"
    code = (
        "import sys; from pathlib import Path\n"
        "from sojourn import _core; from sojourn.cli import main\n"
        "inner = _core.run\n"
        "def run(scenario, switch, controls):\n"
        "    first = scenario.seed == 1 and scenario.queue('bottleneck').startswith('taildrop')\n"
        "    if not first:\n"
        "        Path('second').touch()\n"
        "    short = _core.Scenario.load(scenario.source, sets=[('duration', '1s')])\n"
        "    return inner(short if first else scenario, switch, controls)\n"
        "_core.run = run\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "--out", "out"],
        cwd=command.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    finished = (
        command.folder / "out" / "runs" / "contender=taildrop" / "replica=1" / "manifest.json"
    )
    # The runs take place one at a time: the second begins when the first is saved and counted.
    with process:
        try:
            assert wait_for((command.folder / "second").exists)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert "finished: taildrop, seed 1" in err
    assert "Traceback" not in err
    assert out == ""
    kept = [p for p in (command.folder / "out").rglob("*") if p.is_file()]
    assert {p.parent for p in kept} == {finished.parent}
    assert finished in kept


def test_the_list_of_commands_says_the_first_sentence_of_each_commands_help():
    import click

    from sojourn.cli.commands import COMMANDS, Commands

    commands = Commands("sojourn")
    context = click.Context(commands)
    for name, entry in COMMANDS.items():
        command = commands.get_command(context, name)
        assert command is not None and command.name == name
        assert " ".join((command.help or "").split("\n\n")[0].split()) == entry.summary
    assert commands.list_commands(context) == sorted(COMMANDS)
    assert commands.get_command(context, "nothing") is None


def test_the_list_of_commands_imports_none_of_them():
    code = "import sys; from sojourn.cli import main; main(['--help']); print(sorted(sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "Run a scenario once." in shown
    for slow in ("sojourn.cli.options", "sojourn.describing", "sojourn.running", "tempfile"):
        assert f"'{slow}'" not in shown


RUN_IMPORTS = """
app cli cli.commands cli.console cli.interrupts cli.once cli.options cli.result_table cli.run
control describing describing.arguments describing.formatting describing.library
describing.metric_table describing.metrics describing.nearest describing.quantity
describing.queues endpoint ending
engines engines.protocol engines.linux engines.ns3 engines.registry engines.sim engines.sim.engine
errors files loading locking platforms reading running running.labels running.memory
running.replicas running.result running.runs running.series running.store tabular _core
"""


@pytest.mark.parametrize("fresh", [["--fresh"], []])
def test_a_run_imports_only_what_it_needs_whether_it_is_made_or_was_kept(command, fresh):
    code = "import sys; from sojourn.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    arguments = ["run", "small.toml", *fresh]
    if not fresh:
        command(*arguments)
    shown = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=command.folder, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    modules = set(shown.splitlines()[-1].split())
    ours = {name.removeprefix("sojourn.") for name in modules if name.startswith("sojourn.")}
    assert sorted(ours - set(RUN_IMPORTS.split())) == []
    heavy = {
        "matplotlib", "pyarrow", "scipy", "numpy", "jinja2", "rich", "importlib.metadata",
        "zipfile", "tomllib", "socket", "html", "subprocess",
    }  # fmt: skip
    assert sorted(modules & heavy) == []


def test_off_a_terminal_a_run_is_shown_as_on_one(command, monkeypatch):
    import io

    from rich.console import Console

    from sojourn.cli import console, result_table

    groups = {"queue q": [("delay_mean", "1.5 ms"), ("sent", "12 345")], "run": [("events", "7")]}
    screen = io.StringIO()
    monkeypatch.setattr(console, "stdout_console", lambda: Console(file=screen, width=120))
    result_table._print_on_terminal(groups, "d")
    assert screen.getvalue().splitlines() == [*result_table.lines(groups), "digest d"]


def test_every_name_of_the_package_is_found_where_its_table_says():
    import sojourn

    assert sorted(sojourn._MODULES) == sorted(sojourn.__all__)
    assert all(hasattr(sojourn, name) for name in sojourn.__all__)
    assert set(sojourn.__all__) <= set(dir(sojourn))
    with pytest.raises(AttributeError, match="nothing"):
        sojourn.nothing  # noqa: B018


@pytest.mark.parametrize("name", ["run", "compare", "agree", "reproduce"])
def test_a_kernel_given_twice_is_refused_not_the_last_taken(command, name):
    file = [] if name == "reproduce" else ["small.toml"]
    done = command(name, *file, "--kernel", "6.1", "--kernel", "7.2")
    assert done.returncode == 2
    assert "--kernel: is given 2 times (6.1, 7.2); name one." in done.stderr


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run", "small.toml", "--seed", "1", "--seed", "2"], "--seed"),
        (["run", "small.toml", "--aqm", "pie", "--aqm", "codel"], "--aqm"),
        (["run", "small.toml", "--engine", "sim", "--engine", "linux"], "--engine"),
        (["compare", "small.toml", "--aqm", "pie", "--seeds", "2", "--seeds=3"], "--seeds"),
        (["kernel", "build", "--hz", "250", "--hz", "1000"], "--hz"),
        (["study", "show", "x", "--out", "a", "--out", "b"], "--out"),
    ],
)
def test_an_option_given_twice_is_refused_not_the_last_taken(command, words, option):
    done = command(*words)
    assert done.returncode == 2
    assert f"{option}: is given more than once; give it once." in done.stderr


def test_every_command_refuses_an_option_given_twice():
    from importlib import import_module

    from sojourn.cli.commands import COMMANDS
    from sojourn.cli.once import StrictCommand, StrictGroup

    for name, entry in COMMANDS.items():
        command = getattr(import_module(f"sojourn.cli.{entry.module}"), entry.function)
        assert isinstance(command, StrictCommand | StrictGroup), name


@pytest.mark.parametrize("second", ["flows[0].rtt=2ms", "flows.0.rtt = 2ms", "flows[0].rtt=1ms"])
def test_a_key_set_twice_is_refused_in_either_spelling(command, second):
    done = command("run", "small.toml", "--set", "flows[0].rtt=1ms", "--set", second)
    assert done.returncode == 2
    assert "is given more than once (1ms," in done.stderr


def test_the_warnings_of_a_run_are_about_the_aqm_that_runs(command):
    prague = ("small.toml", "--set", "flows[0].cc=prague", "--set")
    marking = command("run", *prague, "links.bottleneck.queue=codel", "--aqm", "dualpi2")
    assert "prague" not in marking.stderr
    other = command("run", *prague, "links.bottleneck.queue=dualpi2", "--aqm", "codel")
    assert other.stderr.count("prague reacts to marks, but") == 1


def test_progress_is_complete_only_with_the_last_run(monkeypatch, capsys):
    from sojourn.cli import console

    monkeypatch.setattr(console.time, "monotonic", iter([0.0, 10.0, 20.0, 30.0]).__next__)
    lines = console.Lines()
    lines.start(4, 40.0)
    lines.update(2, 40.0)
    lines.update(4, 40.0)
    said = capsys.readouterr().err.splitlines()
    assert [line.split(", ")[:2] for line in said] == [
        ["2 of 4 runs", "99 %"],
        ["4 of 4 runs", "100 %"],
    ]
