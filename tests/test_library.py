"""Finding, reading and varying scenarios."""

import json

import pytest

import sojourn
from sojourn.describing.library import describe, find, shipped
from sojourn.errors import InputError


def test_overrides_take_python_values():
    sets = {
        "seed": 4,
        "links.bottleneck.rate": "20mbit",
        "record.packets": True,
        "links.bottleneck.queue": {"kind": "pie", "target": "5ms"},
        "flows.bulk.path": ["bottleneck"],
    }
    scenario = sojourn.load("traffic-mix", sets=sets)
    resolved = json.loads(scenario.resolved_json())
    assert scenario.seed == 4
    assert resolved["links"][0]["rate"] == "20mbit"
    assert resolved["record"]["packets"] is True
    assert scenario.queue("bottleneck").startswith("pie:target=5ms")


def test_overrides_take_text_as_the_command_does():
    sets = [("links.bottleneck.rate", "20mbit"), ("seed", "4")]
    assert sojourn.load("traffic-mix", sets=sets).seed == 4


def test_a_scenario_written_as_json_is_the_same(tmp_path):
    scenario = sojourn.load("dumbbell-cubic")
    file = tmp_path / "same.json"
    file.write_text(scenario.document_json())
    assert sojourn.load(file).resolved_json() == scenario.resolved_json()


def test_anything_that_writes_itself_as_toml_is_a_scenario():
    class Written:
        def to_toml(self):
            return sojourn.load("dumbbell-cubic").source

    assert sojourn.load(Written()).name == "dumbbell-cubic"


def test_a_loaded_scenario_is_taken_as_it_is():
    scenario = sojourn.load("traffic-mix")
    assert sojourn.load(scenario) is scenario
    with pytest.raises(InputError, match="sets"):
        sojourn.load(scenario, sets={"seed": 2})


def test_errors_carry_place_and_message():
    with pytest.raises(sojourn.ScenarioError) as refused:
        sojourn.load("traffic-mix", sets={"links.bottleneck.rate": "10mbps"})
    assert "links.bottleneck.rate" in refused.value.place
    assert "10mbit" in refused.value.message


def test_a_missing_trace_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cellular\.down"):
        sojourn.load("cellular")


def test_a_file_goes_before_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traffic-mix").write_text("")
    assert find("traffic-mix") == find(tmp_path / "traffic-mix").relative_to(tmp_path)


def test_shipped_scenarios_say_what_they_are():
    for path in shipped().values():
        assert len(describe(path)) > 20


def test_another_queue_keeps_the_buffer():
    scenario = sojourn.load("traffic-mix").with_queue("bottleneck", "fq_codel")
    limits = json.loads(scenario.resolved_json())["links"][0]
    assert limits["limit"] == "375kB"
    assert limits["queue"]["kind"] == "fq_codel"


def test_compare_in_python(tmp_path):
    comparison = sojourn.compare(
        "dumbbell-cubic",
        ["taildrop", "pie"],
        seeds=[3, 9],
        sets={"duration": "3s", "warmup": "0s"},
        out=tmp_path,
    )
    assert comparison.seeds == [3, 9]
    assert (tmp_path / "runs" / "contender=pie" / "replica=9" / "manifest.json").exists()
    assert sorted(comparison.save(tmp_path))[0] == "comparison.json"


def test_a_text_in_place_of_a_file_name_is_refused_with_the_call_that_takes_it() -> None:
    text = 'name = "x"\nduration = "1s"\n'
    with pytest.raises(InputError, match=r"several lines.*`sojourn.Scenario.load\(text\)`"):
        sojourn.load(text)


@pytest.mark.parametrize("source", [None, 3, b"demo.toml"])
def test_what_is_no_scenario_is_a_type_error_that_says_what_would_be_one(source) -> None:
    with pytest.raises(TypeError, match=r"scenario: is a \w+; give a path or a Scenario"):
        sojourn.load(source)


def test_an_empty_path_is_not_taken_for_the_current_folder() -> None:
    with pytest.raises(InputError, match="scenario: is an empty text"):
        sojourn.load("")
