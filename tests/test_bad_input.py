"""Errors of users: one sentence, exit code 2, nothing half-written."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

import sojourn as sojourn_api
from sojourn import _core
from sojourn.cli import sojourn
from sojourn.cli.commands import COMMANDS
from sojourn.errors import InputError
from sojourn.reproduce.export import export
from sojourn.study.folder import open_folder


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("colour=red", ["colour", "unknown key", "known"]),
        ("links.bottleneck.rat=5mbit", ["rat", "did you mean `rate`"]),
        ("links.bottelneck.rate=5mbit", ["bottelneck", "did you mean `bottleneck`"]),
        ("links.bottleneck.rate=10", ["links.bottleneck.rate", "unit", "10mbit"]),
        ("links.bottleneck.rate=10mbps", ["links.bottleneck.rate", "mbps", "10mbit"]),
        ("links.bottleneck.rate=-1mbit", ["links.bottleneck.rate", "negative"]),
        ("links.bottleneck.rate=0mbit", ["links.bottleneck.rate", "positive"]),
        ("links.bottleneck.delay=10", ["links.bottleneck.delay", "unit"]),
        ("links.bottleneck.delay=10mins", ["links.bottleneck.delay", "mins", "ms"]),
        ("links.bottleneck.queue.kind=coddel", ["queue", "did you mean `codel`"]),
        ("links.bottleneck.queue.tarjet=5ms", ["queue"]),
        ("flows.0.cc=cubik", ["flows[0].cc", "did you mean `cubic`"]),
        ('flows.0.path=["bottlenek"]', ["path", "bottleneck"]),
        ("duration=0s", ["duration"]),
        ("nonsense", ["--set nonsense", "KEY=VALUE"]),
    ],
)
@pytest.mark.parametrize("verb", ["run", "validate"])
def test_a_wrong_value_is_named_with_place_and_remedy(command, verb, override, words):
    message = command.refused(verb, "small.toml", "--set", override)
    for word in words:
        assert word in message, message


def test_an_error_in_a_file_has_file_and_line(command):
    text = (command.folder / "small.toml").read_text()
    (command.folder / "wrong.toml").write_text(text.replace('"10ms"', '"10"'))
    message = command.refused("run", "wrong.toml")
    assert "wrong.toml:6: links.bottleneck.delay" in message


@pytest.mark.parametrize(
    ("line", "key", "meant"),
    [('cc = "cubik"', "cc", "cubic"), ('tcp = "linus"', "tcp", "linux")],
)
def test_what_only_the_engine_knows_is_refused_with_file_and_line(command, line, key, meant):
    bulk = 'app = { kind = "bulk" }'
    text = (command.folder / "small.toml").read_text().replace(bulk, f"{bulk}\n{line}")
    (command.folder / "wrong.toml").write_text(text)
    number = text.splitlines().index(line) + 1
    message = command.refused("run", "wrong.toml")
    assert f"wrong.toml:{number}: flows[0].{key}: " in message
    assert f"did you mean `{meant}`" in message


def test_invalid_toml_is_refused_with_the_line(command):
    (command.folder / "wrong.toml").write_text("name = \n")
    assert "wrong.toml:1" in command.refused("run", "wrong.toml")


def test_a_file_that_is_not_utf_8_is_refused(command):
    (command.folder / "wrong.toml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in command.refused("run", "wrong.toml")


@pytest.mark.parametrize("content", [None, "", "5\n3\n", "1\n\n3\n", "0\n0\n", "1.5\n"])
def test_a_trace_that_is_missing_empty_or_wrong_is_refused(command, content):
    if content is not None:
        (command.folder / "link.down").write_text(content)
    trace = 'links.bottleneck.rate={kind="trace", file="link.down"}'
    arguments = ("--set", trace, "--set", "links.bottleneck.buffer=100p")
    message = command.refused("run", "small.toml", *arguments)
    assert "link.down" in message
    assert "links.bottleneck.rate" in message


def test_a_name_that_is_neither_file_nor_scenario_names_the_nearest(command):
    assert "did you mean `traffic-mix`" in command.refused("run", "trafic-mix")
    assert "sojourn list scenarios" in command.refused("run", "qqq.toml")
    assert "is a folder" in command.refused("run", ".")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("aqms", "words"),
    [
        ("coddel", ["did you mean `codel`"]),
        ("pie@rfc9999", ["dialect", "rfc9999"]),
        ("pie:target=5", ["target", "5ms"]),
        ("pie:tarjet=5ms", ["did you mean `target`"]),
        ("taildrop,taildrop", ["twice"]),
        ("taildrop,,pie", ["--aqm"]),
        ("fq(pie", ["`)`"]),
        ("target=5ms", ["which AQM"]),
    ],
)
def test_a_wrong_aqm_is_refused_before_anything_is_written(command, aqms, words):
    message = command.refused("compare", "small.toml", "--aqm", aqms, "--out", "out")
    for word in words:
        assert word in message, message
    assert not (command.folder / "out").exists()


def test_a_wrong_link_is_refused(command):
    message = command.refused("compare", "small.toml", "--aqm", "pie", "--link", "uplink")
    assert "it has bottleneck" in message


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["run"],
        ["run", "small.toml", "--seed", "-1"],
        ["run", "small.toml", "--seed", "one"],
        ["compare", "small.toml"],
        ["compare", "small.toml", "--aqm", "pie", "--seeds", "0"],
        ["compare", "small.toml", "--aqm", "pie", "--jobs", "0"],
        ["list", "queues"],
    ],
)
def test_a_wrong_call_shows_the_usage(command, arguments):
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: sojourn")
    assert done.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize("verb", [["run"], ["compare", "--aqm", "pie"]])
def test_an_output_folder_that_cannot_be_written_is_refused_before_work(command, verb):
    (command.folder / "taken").write_text("")
    long = ["--set", "duration=100000s"]
    for out in ("taken", "taken/inside", "/proc/sojourn"):
        message = command.refused(*verb, "small.toml", *long, "--out", out)
        assert f"--out {out}" in message


@pytest.mark.slow
@pytest.mark.parametrize("verb", [["run"], ["compare", "--aqm", "taildrop,pie", "--seeds", "2"]])
def test_a_full_disk_is_reported_and_leaves_nothing_half_written(command, verb):
    # A limit on file sizes acts like a disk that is full after that many bytes.
    code = (
        "import resource, sys; from sojourn.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); sys.exit(main(sys.argv[1:]))"
    )
    arguments = [*verb, "small.toml", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=command.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    assert "sojourn: error: out/" in done.stderr
    assert done.stdout == ""
    files = [path for path in (command.folder / "out").rglob("*") if path.is_file()]
    assert files == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE) != (3000, 3000)


@pytest.mark.slow
def test_a_full_disk_leaves_the_earlier_result_whole(command):
    assert command("run", "small.toml", "--out", "out").returncode == 0
    before = contents(command.folder / "out")
    code = (
        "import resource, sys; from sojourn.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["run", "small.toml", "--seed", "2", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=command.folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert contents(command.folder / "out") == before


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_closed_pipe_is_not_an_error(command):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "list", "aqms"],
        cwd=command.folder, stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 0
    assert done.stderr == ""


def _parameters(command: click.Command, path: str) -> Iterator[tuple[str, click.Parameter]]:
    """Every parameter of a command and of those below it, with the name of its command."""
    yield from ((path, parameter) for parameter in command.params)
    for name, below in getattr(command, "commands", {}).items():
        yield from _parameters(below, f"{path} {name}")


_NAMES = {"file", "files_", "source", "sources", "law", "store", "json_to"}
"""Parameters that take a file or folder as text, and parameters of type `click.Path`."""


@pytest.mark.parametrize("name", COMMANDS)
def test_no_parameter_takes_an_empty_path_for_the_current_folder(name: str) -> None:
    context = click.Context(sojourn)
    command = sojourn.get_command(context, name)
    assert command is not None
    for path, parameter in _parameters(command, name):
        if not isinstance(parameter.type, click.Path) and parameter.name not in _NAMES:
            continue
        with pytest.raises(InputError, match=r"^\S+: is empty; write a name"):
            parameter.type.convert("", parameter, context)
            pytest.fail(f"{path}: {parameter.opts[0]} takes an empty path")


@pytest.mark.parametrize("option", ["--out", "--pcap"])
def test_a_run_with_an_empty_path_writes_nothing(command, option):
    before = sorted(command.folder.rglob("*"))
    message = command.refused("run", "small.toml", option, "")
    assert f"{option}: is empty; write a name or leave it out" in message
    assert sorted(command.folder.rglob("*")) == before


DEFAULTS = """
name = "defaults"
duration = "1s"
[links.a]
rate = "10mbit"
queue = "{aqm}"
[[flows]]
path = ["a"]
rtt = "10ms"
cc = "{cc}"
app = {{ kind = "bulk" }}
"""


def test_every_default_of_every_aqm_and_control_can_be_written_out():
    for key, entries in (("aqm", _core.aqms()), ("cc", _core.ccs())):
        for entry, dialect in ((e, d["name"]) for e in entries for d in e["dialects"]):
            for param in entry["params"]:
                if (default := param["defaults"].get(dialect)) is not None:
                    text = f"{entry['name']}@{dialect}:{param['name']}={default}"
                    chosen = {"aqm": "codel", "cc": "reno"} | {key: text}
                    _core.Scenario.load(DEFAULTS.format(**chosen))


_SCENARIO = "dumbbell-cubic"


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("out", lambda: sojourn_api.run(_SCENARIO, out="")),
        ("out", lambda: sojourn_api.compare(_SCENARIO, ["pie", "codel"], out="")),
        ("out", lambda: sojourn_api.router(rate="10mbit", out="")),
        ("folder", lambda: sojourn_api.capture(_SCENARIO, "")),
        ("folder", lambda: sojourn_api.Result.open("")),
        ("folder", lambda: sojourn_api.Comparison.open("")),
        ("folder", lambda: export(["madpie:F8"], "")),
        ("store", lambda: open_folder("")),
    ],
)
def test_python_refuses_an_empty_path_as_the_command_does(
    name: str, call: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"^{name}: is empty; write a name"):
        call()
    assert not list(tmp_path.iterdir())


class _Index:
    """Like an integer of numpy, a whole number that is not an `int`."""

    def __index__(self) -> int:
        return 3


@pytest.mark.parametrize("wrong", ["3", 2.5, True, -1, [1]])
@pytest.mark.parametrize("call", ["run", "compare", "agree", "reproduce", "test", "jobs"])
def test_a_seed_or_number_that_is_none_is_refused_with_argument_value_and_remedy(call, wrong):
    from sojourn.testing.expectations import rule_of

    name = {"run": "seed", "test": "max_seeds", "jobs": "jobs"}.get(call, "seeds")
    calls: dict[str, Callable[[], object]] = {
        "run": lambda: sojourn_api.run("onoff", seed=wrong),
        "compare": lambda: sojourn_api.compare("onoff", "pie,codel", wrong),
        "agree": lambda: sojourn_api.agree("onoff", seeds=wrong),
        "reproduce": lambda: sojourn_api.reproduce.reproduce("pie:F6", seeds=wrong),
        "test": lambda: rule_of("queue/x/delay_p95", 0.95, wrong),
        "jobs": lambda: sojourn_api.compare("onoff", "pie,codel", 1, jobs=wrong),
    }
    if (call, wrong) == ("compare", [1]):
        wrong = ["1"]
    with pytest.raises(InputError, match=rf"^{name}: .*; give ") as refused:
        calls[call]()
    assert repr(wrong[0] if wrong == ["1"] else wrong) in str(refused.value)


def test_a_seed_may_be_any_whole_number_of_python():
    from sojourn.comparing.planned import choose_seeds
    from sojourn.describing.library import load, seeded

    assert seeded(load("onoff"), _Index()).seed == 3
    assert choose_seeds(7, _Index()) == [7, 8, 9]
    assert choose_seeds(7, [_Index(), 9]) == [3, 9]


@pytest.mark.parametrize("wrong", [{"pie"}, frozenset(["pie"]), {"pie": 1}, 3, b"pie", ["pie", 3]])
@pytest.mark.parametrize("call", ["run", "compare", "study", "tune", "reproduce"])
def test_aqms_without_an_order_are_refused(call, wrong):
    calls: dict[str, Callable[[], object]] = {
        "run": lambda: sojourn_api.run("onoff", aqms=wrong),
        "compare": lambda: sojourn_api.compare("onoff", wrong),
        "study": lambda: sojourn_api.study.read("aqm-load-rtt", aqms=wrong),
        "tune": lambda: sojourn_api.search.read_tune("tune-pie", aqms=wrong),
        "reproduce": lambda: sojourn_api.reproduce.reproduce("pie:F6", aqms=wrong),
    }
    with pytest.raises(InputError, match=r'aqms: .*; give a text or a list, as in \["pie", "cod'):
        calls[call]()


def test_one_name_is_a_list_of_one():
    with pytest.raises(InputError, match=r"^nosuch: no such file"):
        sojourn_api.agree("nosuch")
    with pytest.raises(InputError, match="reproduce nosuch: unknown paper"):
        sojourn_api.reproduce.reproduce("nosuch")
    with pytest.raises(InputError, match="scenarios: is an empty list; give at least one"):
        sojourn_api.agree([])


def test_sets_and_engines_of_another_type_are_refused():
    for sets in ("a=b", 3, [("a", "b", "c")]):
        with pytest.raises(InputError, match=r"^sets: .*; give a mapping such as"):
            sojourn_api.run("onoff", sets=sets)
    with pytest.raises(InputError, match=r"^engine: 3 is not a list"):
        sojourn_api.run("onoff", engine=3)
    with pytest.raises(InputError, match="until: 5 is not a text; write a share"):
        sojourn_api.compare("onoff", "pie,codel", until=5)


def test_errors_name_options_on_the_command_line_and_arguments_in_python(command):
    from sojourn.errors import in_python

    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: sojourn_api.compare("onoff", ["pie", "pie"]), "aqms: `pie` is listed twice"),
        (lambda: sojourn_api.compare("onoff", "pie", max_seeds=5),
         'max_seeds: belongs to a rule of when to stop; add `until="decided"`'),
        (lambda: sojourn_api.run("onoff", aqms="pie", link="x"), "link x: onoff has no such link"),
        (lambda: sojourn_api.run("onoff", memory="5"), "memory 5: "),
        (lambda: sojourn_api.compare("onoff", "pie", fair={"a": "1"}), "fair a=1: none of"),
    ]  # fmt: skip
    for call, words in calls:
        with pytest.raises(InputError) as refused:
            call()
        assert str(refused.value).startswith(words)
    said = command.refused("compare", "small.toml", "--aqm", "pie", "--max-seeds", "5")
    assert "--max-seeds: belongs to a rule of when to stop; add --until decided" in said
    kept = "kernel 6.1: is not built; `sojourn kernel build --kernel 6.1` makes it"
    assert in_python(f"--{kept}") == kept


QUEUE = "links.bottleneck.queue=codel:target=9ms"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "FILE", "--aqm", "pie", "--set", QUEUE], "has no effect"),
        (
            ["compare", "FILE", "--aqm", "pie,codel", "--set", QUEUE],
            "effect",
        ),
        (["diff", "pie", "codel", "FILE", "--set", QUEUE], "has no effect"),
        (["run", "FILE", "--seed", "3", "--set", "seed=5"], "write one of them"),
        (["run", "FILE", "--link", "bottleneck"], "--link bottleneck: is for the AQM; give one"),
        (["run", "FILE", "--pcap-format", "pcap"], "--pcap-format pcap: is that of captures; add"),
        (["compare", "FILE", "--aqm", "pie,codel", "--figures"], "--figures: writes figures into"),
        (["live", "FILE", "--save", "x.html", "--port", "3"], "--port 3: is that of the server"),
    ],
)
def test_an_argument_that_would_have_no_effect_is_refused(command, arguments, sentence):
    done = command(*("dumbbell-reno" if it == "FILE" else it for it in arguments))
    assert done.returncode == 2 and sentence in done.stderr, done.stderr
