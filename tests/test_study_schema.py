"""The JSON Schema of a study: committed, and consistent with the parser of studies."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import sojourn
from sojourn.errors import InputError
from sojourn.study.axes import AXIS_KEYS, SAMPLE_KEYS
from sojourn.study.definition import STUDY_KEYS, shipped
from sojourn.study.schema import study_schema
from sojourn.study.until import UNTIL_KEYS

ON_RECORD = Path(__file__).parents[1] / "schema/study.schema.json"
AXIS = {"name": "flows", "key": "flows.bulk.count", "values": [1, 4]}
RANGE = {"name": "rtt", "key": "flows.bulk.rtt", "from": "10ms", "to": "1s"}
STUDY = {"name": "s", "scenario": "dumbbell-reno", "metrics": ["queue/b/delay_p95"], "axes": [AXIS]}
UNTIL = {"metric": "queue/b/delay_p95", "within": "5%", "max_seeds": 20}
CHECK = jsonschema.Draft202012Validator(study_schema())


def test_the_schema_on_record_is_the_one_that_the_code_has():
    # `sojourn study schema > schema/study.schema.json` writes it.
    assert json.loads(ON_RECORD.read_text()) == study_schema()


def test_the_schema_has_the_keys_that_the_reader_knows():
    whole = study_schema()["properties"]
    tables = [(study_schema(), STUDY_KEYS), (whole["axes"]["items"], AXIS_KEYS),
              (whole["sample"], SAMPLE_KEYS), (whole["until"], UNTIL_KEYS)]  # fmt: skip
    for table, keys in tables:
        assert list(table["properties"]) == list(keys)


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_study_fits_the_schema(name):
    CHECK.validate(tomllib.loads(shipped()[name].read_text()))


@pytest.mark.parametrize(
    "more",
    [
        {"axes": [RANGE | {"points": 3, "scale": "log"}]},
        {"axes": [RANGE], "sample": {"method": "sobol", "points": 4}},
        {"until": UNTIL | {"confidence": 0.9}},
        {"only": [{"flows": [1, 4]}], "skip": [{"flows": "> 4"}], "seeds": 2},
    ],
)
def test_what_the_reader_takes_fits_the_schema(more):
    sojourn.study.parse(STUDY | more)
    CHECK.validate(STUDY | more)


@pytest.mark.parametrize(
    "more",
    [
        {"axes": []},
        {"axes": [AXIS | {"valuse": [1]}]},
        {"axes": [AXIS | {"values": []}]},
        {"axes": [AXIS | {"values": [1, 1]}]},
        {"axes": [AXIS | {"points": 3}]},
        {"axes": [AXIS | {"from": 1, "to": 2}]},
        {"axes": [{"name": "rtt", "from": "1ms", "points": 3}]},
        {"axes": [RANGE | {"points": 0}]},
        {"axes": [RANGE | {"points": 2, "scale": "square"}]},
        {"axes": [RANGE], "sample": {"method": "dice", "points": 4}},
        {"seeds": 0},
        {"seeds": 2, "until": UNTIL},
        {"until": UNTIL | {"confidence": 1.0}},
        {"until": {"metric": "queue/b/delay_p95", "within": "5%"}},
        {"only": [{}]},
        {"metrics": []},
        {"colour": "red"},
    ],
)
def test_what_the_reader_refuses_for_its_form_does_not_fit_the_schema(more):
    with pytest.raises(InputError):
        sojourn.study.parse(STUDY | more)
    assert not CHECK.is_valid(STUDY | more)


@pytest.mark.parametrize(
    "metric", ["a/b", "queue/b/goodput", "class/x/delay_p95", "queue/b/delay_p90", "run/x/events"]
)
def test_a_metric_that_no_run_has_does_not_fit_the_schema(metric):
    assert not CHECK.is_valid(STUDY | {"metrics": [metric]})
    assert not CHECK.is_valid(STUDY | {"until": UNTIL | {"metric": metric}})
