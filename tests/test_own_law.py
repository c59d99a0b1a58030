"""Custom laws in Python: text forms, errors, manifest, determinism, equality with Rust."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from sojourn import _core, law
from sojourn.cli import main
from sojourn.errors import InputError
from sojourn.loading.bring import bring

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "aqms"
HEADER = ROOT / "crates" / "law" / "include"
SCENARIO = """
name = "one"
duration = "6s"
record = { states = true, signals = true }

[links.b]
rate = "10mbit"
delay = "18ms"
buffer = "1bdp"

[[flows]]
name = "bulk"
count = 3
path = ["b"]
rtt = "40ms"
cc = "reno"
ecn = true
app = { kind = "bulk" }

[[flows]]
name = "mortal"
count = 2
path = ["b"]
rtt = "20ms"
start = "1s..2s"
app = { kind = "bulk", bytes = "400kB" }
"""
DROPPER = '''"""A law for the tests."""

from sojourn import law


class Dropper:
    """Drops what has waited longer than its target, with a probability."""

    target = law.time("8ms", "Sojourn time that is not signalled", source="a test")
    prob = law.number("0.05", "Probability of a signal", rule="probability", source="a test")
    late = law.var("packets", "Packets that waited longer")

    def on_dequeue(self, now_ns, head, queue, random):
        if head.sojourn_ns > self.target:
            self.late += 1
            if random.uniform() < self.prob:
                return law.Verdict.signal(head.can_mark, law.RANDOM)
'''


def scenario() -> sojourn.Scenario:
    return sojourn.Scenario.load(SCENARIO)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A user's folder with a custom law."""
    (tmp_path / "mine.py").write_text(DROPPER)
    (tmp_path / "one.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Three:
    """Keeps at most three packets queued."""

    def on_enqueue(self, now_ns, head, queue, random):
        return law.Verdict.DROP_DETERMINISTIC if queue.packets >= 3 else None


def changed(mine: Path, old: str, new: str, name: str = "wrong.py") -> str:
    """The law of the tests with a mistake, as a file."""
    assert old in DROPPER
    (mine / name).write_text(DROPPER.replace(old, new))
    return f"{name}:Dropper"


def refusal(capsys, *arguments: str) -> str:
    code = main(list(arguments))
    err = capsys.readouterr().err.strip()
    assert code == 2, err
    assert err.count("sojourn: error: ") == 1
    return err.partition("sojourn: error: ")[2]


def test_a_class_file_and_text_name_the_same_law(mine):
    brought = bring(["mine.py:Dropper:target=5ms", "fq(mine.py:Dropper)", "mine.py", Three, "pie"])
    assert brought.aqms == ["Dropper:target=5ms", "fq(Dropper)", "Dropper", "Three", "pie"]
    assert {law.name for law in brought.laws} == {"Dropper", "Three"}
    assert bring(["mine.py:Dropper,target=5ms"]).aqms == ["Dropper:target=5ms"]


def test_a_comparison_takes_custom_laws_next_to_built_in_ones(mine):
    aqms = ["pie", "mine.py:Dropper:target=5ms", "fq(mine.py:Dropper)", Three]
    comparison = sojourn.compare(scenario(), aqms, seeds=2, jobs=2)
    assert comparison.aqms == ["pie", "Dropper:target=5ms", "fq(Dropper)", "Three"]
    assert not comparison.failures
    three = comparison.of("Three")[0].summary["queue/b/delay_p95"]
    assert three < comparison.of("pie")[0].summary["queue/b/delay_p95"]


def test_signals_and_states_have_the_state_variables_of_the_law(mine):
    result = sojourn.run(scenario(), aqms="mine.py")
    signals = [row for row in result.signals.to_pylist() if row["cause"] == "random"]
    assert {row["signal"] for row in signals} == {"dropped", "marked"}
    assert dict(signals[0]["state"])["late"] >= 1
    late = [row["value"] for row in result.states.to_pylist() if row["var"] == "late"]
    assert late[-1] > 10
    assert late == sorted(late)


def test_the_manifest_names_the_code_and_every_parameter(mine):
    manifest = sojourn.run(scenario(), aqms="mine.py:Dropper:target=5ms").manifest
    queue = manifest["scenario"]["links"][0]["queue"]
    assert queue["settings"]["target"] == "5ms"
    assert queue["settings"]["prob"] == "0.05"
    assert queue["source"].startswith("python:mine.py:Dropper sha256=")
    (mine / "mine.py").write_text(DROPPER.replace('"0.05"', '"0.06"'))
    again = sojourn.run(scenario(), aqms="mine.py").manifest["scenario"]["links"][0]["queue"]
    assert again["source"] != queue["source"]


def test_the_same_seed_gives_the_same_digest_for_any_number_of_runs_at_a_time(mine):
    def digests(jobs):
        comparison = sojourn.compare(scenario(), ["mine.py"], seeds=3, jobs=jobs, store=None)
        return [result.digest for result in comparison.of("Dropper")]

    assert digests(1) == digests(3)
    assert len(set(digests(1))) == 3


def test_explain_shows_parameters_and_state_variables(mine, capsys):
    assert main(["explain", "mine.py:Dropper"]) == 0
    shown = capsys.readouterr().out
    assert "target = 8ms" in shown
    assert "late [packets]" in shown
    assert main(["explain", "mine.py:Dropper.prob"]) == 0
    assert "must be a probability" in capsys.readouterr().out


def test_the_command_runs_and_compares_it(mine, capsys):
    assert main(["run", "one.toml", "--aqm", "mine.py:Dropper:target=5ms", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"]
    aqms = "pie,mine.py:Dropper:target=5ms,fq(mine.py:Dropper)"
    assert main(["compare", "one.toml", "--aqm", aqms, "--seeds", "2", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)["aqms"]
    assert compared == ["pie", "Dropper:target=5ms", "fq(Dropper)"]


def test_a_scenario_never_names_code(mine):
    text = SCENARIO.replace('buffer = "1bdp"', 'buffer = "1bdp"\nqueue = "mine.py:Dropper"')
    with pytest.raises(sojourn.ScenarioError, match="a scenario is data and names no code"):
        sojourn.Scenario.load(text)


def test_an_error_in_the_law_names_file_line_hook_and_times_and_ends_the_run(mine, capsys):
    file = changed(mine, "self.late += 1", "self.late += 1 / 0")
    text = refusal(capsys, "run", "one.toml", "--aqm", file)
    assert text.startswith("wrong.py:15: Dropper.on_dequeue at ")
    assert "(packet accepted at " in text
    assert text.endswith("ZeroDivisionError: division by zero")
    with pytest.raises(sojourn.LawError) as error:
        sojourn.compare(scenario(), ["pie", file], seeds=2)
    assert isinstance(error.value.__cause__, ZeroDivisionError)


WRONG = [
    ("    def on_dequeue", "    def on_deqeue", "did you mean `on_dequeue`?"),
    ("    def on_dequeue", "    on_enqueue = 5\n\n    def on_dequeue",
     "Dropper.on_enqueue: is not a function; write a method"),
    ("    def on_dequeue", "    on_rate = property(lambda law: law.most)\n\n    def on_dequeue",
     "Dropper.on_rate: is not a function; write a method"),
    ("    def on_dequeue", "    def judge", "has neither on_enqueue nor on_dequeue"),
    ('"8ms"', '"8"', "a time needs a unit"),
    ('"8ms"', '"0ms"', "must be positive"),
    ('"8ms"', "8", "Dropper.target: its default must be a text, not `8`"),
    ('law.var("packets"', "law.var(1", "Dropper.late: its unit must be a text, not `1`"),
    ("    def on_dequeue", "    def on_timer(self, now_ns, queue): ...\n\n    def on_dequeue",
     "has on_timer but no next_timer"),
    ("target = law.time", "limit = law.time", "the discipline around the law has a parameter"),
    ('source="a test")\n    late', 'source="")\n    late', "where its default comes from"),
    ('law.var("packets"', 'law.var(""', "a state variable has a unit"),
    ("class Dropper:", "class Dropper", "wrong.py:6: SyntaxError"),
    ("class Dropper:", "raise SystemExit(3)\nclass Dropper:", "wrong.py:6: SystemExit: 3"),
    ("class Dropper:", "import os\nos._exit(0)\nclass Dropper:",
     "wrong.py:7: SystemExit: it called os._exit(0)"),
    ("self.late += 1", "import os\n            os._exit(0)",
     "SystemExit: it called os._exit(0)"),
    ("self.late += 1", "raise SystemExit(0)", "wrong.py:15: Dropper.on_dequeue at 0.0"),
    ("from sojourn import law", "import no_such_module", "ModuleNotFoundError"),
    ("return law.Verdict.signal(head.can_mark, law.RANDOM)", "return 'drop'",
     "it returned 'drop'; return nothing, or a member of sojourn.law.Verdict"),
    ("return law.Verdict.signal(head.can_mark, law.RANDOM)", "return True", "it returned True"),
    ("head.can_mark", "True", "it marks a packet that is not ECN-capable"),
    ("    def on_dequeue",
     "    def next_timer(self):\n        return 5\n\n"
     "    def on_timer(self, now_ns, queue): ...\n\n    def on_dequeue",
     "it must be later than the timer that just ran"),
    ("    def on_dequeue",
     "    def start(self, env):\n        self.due = 1\n\n"
     "    def next_timer(self):\n        return self.due\n\n"
     "    def on_timer(self, now_ns, queue):\n        self.due += 1\n\n    def on_dequeue",
     "more than 1000000 timers within one second"),
    ("    def on_dequeue",
     "    def start(self, env):\n        self.due = 10\n\n"
     "    def next_timer(self):\n        return self.due\n\n"
     "    def on_enqueue(self, now_ns, head, queue, random):\n        self.due = now_ns + 5000\n\n"
     "    def on_timer(self, now_ns, queue):\n        self.due = now_ns + 10**8\n\n"
     "    def on_dequeue",
     "may change in on_timer, on_idle_timers and on_rate only"),
    ("    def on_dequeue", "    def __init__(self, other): ...\n\n    def on_dequeue",
     "Dropper.__init__ at 0.000000000 s: TypeError"),
    ("self.late += 1", "self.late = 'many'", "state variable `late` is not a number"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "sentence"), WRONG, ids=[w[2][:40] for w in WRONG])
def test_a_wrong_law_is_refused_with_one_sentence_that_names_its_file(
    mine, capsys, old, new, sentence
):
    file = changed(mine, old, new)
    text = refusal(capsys, "run", "one.toml", "--aqm", file)
    assert sentence in text
    assert text.startswith("wrong.py")
    assert "\n" not in text


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("loop", "sentence"),
    [
        ("while True: pass", r"wrong\.py:15: Dropper\.on_dequeue at \d+\.\d+ s \(packet accepted .*"
         r"TimeoutError: no return after 10 s of CPU time"),
        ("while True:\n                try:\n                    while True: abs(1)\n"
         "                except BaseException: pass",
         r"wrong\.py:6: Dropper\.on_dequeue at \d+\.\d+ s: no return after 20 s of CPU time, which "
         "ends the run"),
    ],
    ids=["a loop", "a loop that catches everything"],
)  # fmt: skip
def test_a_hook_that_never_returns_ends_the_run_with_one_sentence(mine, loop, sentence):
    file = changed(mine, "self.late += 1", loop)
    command = [sys.executable, "-m", "sojourn", "run", "one.toml", "--aqm", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    # Behind the time that the run has taken.
    assert re.fullmatch(f"sojourn: error: {sentence}", done.stderr.splitlines()[-1]), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.nightly
def test_a_hook_that_waits_gets_one_warning(mine):
    # Instances of the law are tried before the run.
    waits = (
        "self.late += 1\n            if 'slept' not in globals(): "
        "globals()['slept'] = __import__('time').sleep(22)"
    )
    file = changed(mine, "self.late += 1", waits)
    command = [sys.executable, "-m", "sojourn", "run", "one.toml", "--aqm", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "no return" in line]
    assert re.search(r"wrong\.py:6: Dropper\.on_dequeue at \d+\.\d+ s: no return for 20 s; "
                     "Ctrl-C ends the run$", said)  # fmt: skip


def test_a_file_or_class_that_is_not_there_is_refused_with_what_there_is(mine, capsys):
    run = ("run", "one.toml", "--aqm")
    assert refusal(capsys, *run, "no.py:Dropper").startswith("no.py: no such file")
    assert refusal(capsys, *run, "mine.py:Droper").endswith("the file has Dropper")
    (mine / "empty.py").write_text("x = 1\n")
    assert "the file has no law" in refusal(capsys, *run, "empty.py")
    assert "did you mean `target`" in refusal(capsys, *run, "mine.py:Dropper:targt=5ms")


def test_two_laws_of_one_name_are_refused(mine, capsys):
    other = changed(mine, '"0.05"', '"0.5"', "other.py")
    text = refusal(capsys, "compare", "one.toml", "--aqm", f"mine.py:Dropper,{other}")
    assert "two laws have the name `Dropper`" in text
    taken = type("codel", (Three,), {"__doc__": "A name that is taken."})
    with pytest.raises((sojourn.ScenarioError, InputError), match="two laws have the name `codel`"):
        bring([taken])


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """The laws in C of the examples, built."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("codel", "pie", "gred"):
        subprocess.run(
            ["cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror",
             f"-I{HEADER}", EXAMPLES / f"{name}.c", "-o", folder / f"lib{name}.so", "-lm"],
            check=True,
        )  # fmt: skip
    return folder


@pytest.mark.parametrize(
    ("name", "cls", "settings"),
    [("codel", "CoDel", ""), ("pie", "Pie", ""), ("pie", "Pie", ":ecn=true,target=5ms")],
)
@pytest.mark.parametrize("form", ["{}", "fq({})"])
def test_one_law_built_in_in_python_and_in_c_gives_the_same_digest(
    libraries, name, cls, settings, form
):
    forms = [name, f"{EXAMPLES}/{name}.py:{cls}", f"{libraries}/lib{name}.so"]
    runs = [sojourn.run(scenario(), aqms=form.format(each) + settings, seed=7) for each in forms]
    assert len({run.digest for run in runs}) == 1
    causes = set(runs[0].signals["cause"].to_pylist())
    assert causes & {"random", "deterministic"}, "the law was needed"
    assert runs[0].signals.num_rows > 10


def test_a_library_that_is_none_or_for_another_version_is_refused(libraries, mine, capsys):
    run = ("run", str(mine / "one.toml"), "--aqm")
    assert "no such library" in refusal(capsys, *run, "libno.so")
    (mine / "libtext.so").write_text("not a library")
    assert "is not a shared library for this machine" in refusal(capsys, *run, "libtext.so")
    whole = (libraries / "libcodel.so").read_bytes()
    for length in (10, 100, 1000, len(whole) // 2):
        (mine / "libcut.so").write_bytes(whole[:length])
        text = refusal(capsys, *run, "libcut.so")
        assert text == "libcut.so: is a part of a shared library only; build it again", length
    header = (HEADER / "sojourn_law.h").read_text()
    for file, old, new, sentence in (
        ("libold.so", "#define SOJOURN_LAW_ABI 2u", "#define SOJOURN_LAW_ABI 9u",
         "is built for version 9 of sojourn_law.h"),
        ("libnone.so", "const struct sojourn_law *sojourn_law(void)",
         "const struct sojourn_law *another(void)", "has no function sojourn_law"),
        ("libempty.so", ".on_dequeue = on_dequeue,", "", "has neither on_enqueue nor on_dequeue"),
    ):  # fmt: skip
        (mine / "sojourn_law.h").write_text(header.replace(old, new))
        (mine / "law.c").write_text((EXAMPLES / "codel.c").read_text().replace(old, new))
        subprocess.run(["cc", "-shared", "-fPIC", "law.c", "-o", file, "-lm"], check=True, cwd=mine)
        assert sentence in refusal(capsys, *run, file), file


def test_the_contract_is_examined_and_codel_keeps_it():
    findings = _core.examine_law("codel", [], 20_000)
    assert all(held is not False for _, held, _ in findings), findings
    assert len(findings) == 8


def test_the_contract_tries_values_that_two_parameters_leave_each_other(libraries):
    brought = bring([f"{libraries}/libgred.so"])
    findings = _core.examine_law(brought.aqms[0], brought.laws, 20_000)
    broken = [(promise, why) for promise, held, why in findings if held is False]
    assert not broken, "no usual size lies above its lower threshold, 30 kB"


def test_the_contract_finds_state_across_runs_and_parameters_without_effect(mine):
    count = DROPPER.replace("class Dropper:", "SEEN = [0]\n\n\nclass Dropper:").replace(
        "            self.late += 1",
        "            self.late += 1\n            SEEN[0] += 1\n"
        "            if SEEN[0] % 3 == 0:\n                return law.Verdict.DROP_RANDOM",
    )
    (mine / "count.py").write_text(count)
    brought = bring(["count.py"])
    held = {promise: (held, why) for promise, held, why in
            _core.examine_law(brought.aqms[0], brought.laws, 20_000)}  # fmt: skip
    found = held["the same seed gives the same decisions, another seed others"]
    assert found[0] is False
    assert "keeps state across runs" in found[1]


def test_the_contract_finds_random_numbers_of_ones_own(mine):
    own = DROPPER.replace("random.uniform()", "chance()").replace(
        "from sojourn import law", "from random import random as chance\n\nfrom sojourn import law"
    )
    (mine / "own.py").write_text(own)
    brought = bring(["own.py"])
    found = {promise: (held, why) for promise, held, why in
             _core.examine_law(brought.aqms[0], brought.laws, 20_000)}  # fmt: skip
    held, why = found["the same seed gives the same decisions, another seed others"]
    assert held is False
    assert "or draws its own random numbers" in why


def test_a_name_that_only_begins_like_a_file_is_not_a_file():
    assert bring(["pie"]).laws == []
    with pytest.raises(sojourn.ScenarioError, match=r"unknown AQM `step\.sojourn`"):
        bring(["step.sojourn"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("random.uniform()", "__import__('random').random()"),
        (
            "if random.uniform() < self.prob:",
            "Dropper.seen = getattr(Dropper, 'seen', 0) + 1\n            if Dropper.seen % 7 == 0:",
        ),
    ],
    ids=["own random numbers", "state across runs"],
)
@pytest.mark.parametrize(
    "command", [("run", "one.toml"), ("compare", "one.toml"), ("diff", "pie", "one.toml")]
)
def test_a_law_that_does_not_decide_the_same_twice_is_refused_before_it_runs(
    mine, capsys, old, new, command
):
    own = changed(mine, old, new)
    words = [*command[:2], own, command[2]] if len(command) > 2 else [*command, "--aqm", own]
    text = refusal(capsys, *words)
    assert text.startswith("wrong.py:Dropper: two runs under one seed differ"), text
    assert main(["explain", own]) == 0


def test_a_law_is_asked_once_whether_it_decides_the_same_twice(mine, monkeypatch):
    from sojourn.loading import bring as bringing

    asked = []
    monkeypatch.setattr(bringing, "_REPEATING", set())
    monkeypatch.setattr(_core, "law_repeats", lambda text, *_: asked.append(text) or True)
    for _ in range(2):
        bring(["mine.py:Dropper"], runs=True)
    assert len(asked) == 1
    (mine / "mine.py").write_text(f"{DROPPER}# changed\n")
    bring(["mine.py:Dropper"], runs=True)
    assert len(asked) == 2, "another source"
