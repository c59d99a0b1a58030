"""Custom laws in studies and searches: given by the caller, loaded by workers, named by digest."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import sojourn
from sojourn.cli import main
from sojourn.errors import InputError
from sojourn.search.attack_file import parse_attack
from sojourn.search.tune_file import parse_tune

pytestmark = pytest.mark.slow

LAW = '''
from sojourn import law


class Above:
    """Drops at the head what has waited longer than `most`."""

    most = law.time("20ms", "Sojourn time that is accepted", source="this test")

    def on_dequeue(self, now_ns, head, queue, random):
        """Drop late packets."""
        is_late = head.sojourn_ns >= self.most
        return law.Verdict.signal(False, law.RANDOM) if is_late else law.Verdict.PASS
'''
USED = "queue/bottleneck/utilisation"
SETS = {"duration": "1s", "warmup": "0s"}
STUDY = {
    "name": "own", "scenario": "dumbbell-reno", "metrics": [USED], "seeds": 1, "set": SETS,
    "axes": [
        {"name": "aqm", "key": "links.bottleneck.queue", "values": ["codel", "pie"]},
        {"name": "flows", "key": "flows.bulk.count", "values": [1, 3]},
    ],
}  # fmt: skip


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(LAW)
    return file


def study_file(folder):
    (folder / "study.toml").write_text(f"""
        name = "own"
        scenario = "dumbbell-reno"
        metrics = ["{USED}"]
        seeds = 1
        set = {{ duration = "1s", warmup = "0s" }}
        [[axes]]
        name = "aqm"
        key = "links.bottleneck.queue"
        values = ["codel", "pie"]
        [[axes]]
        name = "flows"
        key = "flows.bulk.count"
        values = [1, 3]
        """)


def test_a_study_runs_a_custom_law_in_processes_and_keeps_it_by_its_digest(mine, capsys):
    study_file(mine.parent)
    own = ["--aqm", "codel,mine.py:Above:most=4ms", "--jobs", "2"]
    assert main(["study", "run", "study.toml", "--store", "st", *own]) == 0
    results = sojourn.study.open_results("st", pytest.fail, aqms=["mine.py:Above"])
    rows = results.to_arrow().to_pylist()
    assert [row["aqm"] for row in rows] == ["codel"] * 2 + ["Above:most=4ms"] * 2
    sets = SETS | {"flows.bulk.count": 3}
    alone = sojourn.run("dumbbell-reno", seed=1, aqms="mine.py:Above:most=4ms", sets=sets)
    assert rows[3]["utilisation"] == alone.summary[USED]
    # Another law under the same name is another run.
    mine.write_text(LAW.replace(">=", ">"))
    again = sojourn.study.read("study.toml", aqms=["codel", "mine.py:Above:most=4ms"])
    fresh = sojourn.study.run_study(again, "st", executor=ThreadPoolExecutor(1))
    runs = [row["run"] for row in fresh.to_arrow().to_pylist()]
    assert runs[:2] == [row["run"] for row in rows[:2]]
    assert not {*runs[2:]} & {row["run"] for row in rows[2:]}


def test_a_store_names_no_code_so_that_the_law_is_given_again(mine, capsys):
    found = sojourn.study.parse(STUDY, aqms="mine.py:Above")
    sojourn.study.run_study(found, "st", executor=ThreadPoolExecutor(1))
    with pytest.raises(
        InputError, match=r"a store names no code, so give it again: `aqms=.*mine\.py:Above"
    ):
        sojourn.study.open_results("st")
    for command in (["status", "st"], ["export", "st", "t.csv"], ["resume", "st", "--jobs", "1"]):
        assert main(["study", *command]) == 2
        assert main(["study", *command, "--aqm", "mine.py:Above"]) == 0
    mine.write_text(LAW + "\n# changed\n")
    with pytest.raises(InputError, match="is not the code that made the runs of Above"):
        sojourn.study.open_results("st", aqms="mine.py:Above")


def test_keys_of_a_queue_go_to_the_custom_law(mine):
    most = {"name": "most", "key": "links.bottleneck.queue.most", "values": ["2ms", "400ms"]}
    found = sojourn.study.parse(STUDY | {"axes": [most]}, aqms="mine.py:Above")
    assert [axis.name for axis in found.axes] == ["aqm", "most"]
    results = sojourn.study.run_study(found, "st", executor=ThreadPoolExecutor(1))
    short, long = results.to_arrow().to_pylist()
    assert (short["most_s"], long["most_s"]) == (0.002, 0.4)
    assert short["utilisation"] < long["utilisation"]


def test_a_law_that_no_worker_loads_or_no_digest_covers_is_refused(mine, monkeypatch):
    class Here:
        """Passes everything."""

        def on_enqueue(self, packet, queue, now_ns, random):
            return None

    with pytest.raises(
        InputError, match=r"Here is not in a file that workers can load; give it as"
    ):
        sojourn.study.parse(STUDY, aqms=[Here])
    monkeypatch.syspath_prepend(mine.parent)
    (mine.parent / "helper.py").write_text("MOST = 8\n")
    mine.write_text("import helper\n" + LAW)
    with pytest.raises(
        InputError, match=r"imports helper, which the names of runs would not cover"
    ):
        sojourn.study.parse(STUDY, aqms="mine.py:Above")
    assert sojourn.study.parse(STUDY, engine="sim").axes[0].name == "engine"


def test_a_custom_law_is_tuned(mine):
    pytest.importorskip("optuna")
    document = {
        "name": "t", "aqm": "pie", "goal": "minimise delay_p95", "trials": 3, "seeds": 2,
        "held_out_seeds": 2,
        "parameters": [{"name": "most", "values": ["2ms", "300ms"]}],
        "scenarios": [{"scenario": "dumbbell-reno", "set": SETS}],
        "held_out": [{"scenario": "dumbbell-cubic", "set": SETS}],
    }  # fmt: skip
    search = parse_tune(document, aqms="mine.py:Above")
    found = sojourn.search.tune(search, "st", executor=ThreadPoolExecutor(1))
    assert not found.failed
    assert found.judged[0].tried.settings == {"most": "2ms"}
    with pytest.raises(InputError, match="Above has no `target`"):
        parse_tune({**document, "parameters": [{"name": "target", "values": ["1ms", "2ms"]}]},
                   aqms="mine.py:Above")  # fmt: skip


def test_a_custom_law_is_attacked_and_its_finding_is_a_scenario(mine):
    pytest.importorskip("optuna")
    document = {
        "name": "a", "aqm": "pie", "scenario": "dumbbell-reno", "set": SETS,
        "worst": "utilisation", "trials": 3, "seeds": 2,
        "words": [{"name": "flows", "key": "flows.bulk.count", "from": 1, "to": 6}],
    }  # fmt: skip
    search = parse_attack(document, aqms=["mine.py:Above:most=2ms", "codel"])
    assert (search.aqm, search.against) == ("Above:most=2ms", ("codel",))
    found = sojourn.search.attack(search, "st", executor=ThreadPoolExecutor(1))
    assert not found.failed and found.small.score > 0
    from sojourn.search.attacking import save

    file = save(found, mine.parent)
    assert "run it with --aqm and Above:most=2ms" in file.read_text()
    bad = sojourn.run(file, aqms="mine.py:Above:most=2ms", seed=1)
    assert bad.summary[USED] < sojourn.run(file, aqms="codel", seed=1).summary[USED]
    noted = json.loads((mine.parent / "a.finding.json").read_text())
    assert noted["against"] == ["codel"]
