"""Explanations: the table of dialects, its sources, and differences other than parameters."""

import json
import re

import pytest

from sojourn import _core
from sojourn.describing import schema_keys
from sojourn.describing.explain import WIDTH, explain, find
from sojourn.describing.metrics import TABLE
from sojourn.errors import InputError

# Every law, discipline and dialect that the README of the registry promises.
FIELD = {
    "taildrop": "packets bytes head_drop",
    "red": "floyd linux ns2 ns3",
    "ared": "floyd2001 linux kids ns3",
    "codel": "rfc8289 linux draft act ns3 freebsd",
    "pie": "rfc8033 paper2013 ietf_draft linux linux2013 ns2 ns3 docsis freebsd",
    "pi2": "classic rfc9332 coupled linux ns3",
    "madpie": "ns2 paper2013 rfc8033 linux",
    "cobalt": "linux linux_exact ns3",
    "choke": "linux",
    "pi": "ns2",
    "blue": "event",
    "sfb": "linux",
    "step": "sojourn dctcp",
    "sfq": "linux",
    "fq": "linux",
    "sfq_red": "linux",
    "dualpi2": "rfc9332 linux",
    "cake": "besteffort",
    "fq_codel": "rfc8290 linux ns3 freebsd",
    "fq_pie": "rfc8033 linux ns3 freebsd",
    "fq_cobalt": "linux ns3",
}


def test_list_names_the_whole_field_with_its_dialects(command):
    listed = json.loads(command("list", "aqms", "--json").stdout)
    dialects = {aqm["name"]: [d["name"] for d in aqm["dialects"]] for aqm in listed}
    for name, wanted in FIELD.items():
        assert set(wanted.split()) <= set(dialects[name]), name
        assert dialects[name][0] == wanted.split()[0], name


@pytest.mark.parametrize("name", [*FIELD, "fq(pie)", "fq(madpie)", "pie@linux", "fq(pie@linux)"])
def test_every_explanation_fits_eighty_columns(name):
    text = explain(name)
    too_wide = [line for line in text.splitlines() if len(line) > WIDTH]
    assert WIDTH == 80 and not too_wide


@pytest.mark.parametrize("name", [*FIELD, "fq(pie)"])
def test_every_dialect_is_named_separately_from_what_it_does(name):
    known = {dialect["name"] for dialect in find(name)[0][0]["dialects"]}
    assert set(re.findall(r"(?<!\w)@(\w+)", explain(name))) == known


@pytest.mark.parametrize("name", [*FIELD])
def test_every_entry_but_tail_drop_shows_its_rules(name):
    assert bool(find(name)[0][0]["behaviours"]) == (name != "taildrop")


def test_the_table_has_every_dialect_and_every_number_a_source():
    text = explain("pie")
    table = text[text.index("who says what") : text.index("sources:")]
    sources = text[text.index("sources:") :]
    for dialect in FIELD["pie"].split():
        assert f"@{dialect}" in table
    for row in ("target", "max_burst", "burst allowance falls", "extra step at high delay"):
        assert row in table
    numbers = {word.strip("[]") for word in table.split() if word.startswith("[") and "]" in word}
    assert numbers and all(f"[{number}]" in sources for number in numbers)


def test_one_row_shows_every_dialect_with_its_source():
    text = explain("pie.max_burst")
    rows = {line.split()[0]: line for line in text.splitlines() if line.startswith("  @")}
    assert "100ms" in rows["@paper2013"] and "Pan et al. 2013" in rows["@paper2013"]
    assert "142ms" in rows["@docsis"] and "RFC 8034" in rows["@docsis"]


def test_a_dialect_shows_itself_alone():
    text = explain("pie@linux")
    table = text[text.index("who says what") : text.index("sources:")]
    assert "@linux" in table and "@rfc8033 " not in table
    assert "first_update" in table and "500ms" in table


def test_what_has_no_effect_in_a_dialect_is_not_attributed_to_it():
    (entry, param) = find("pie.derandomise")[0]
    assert "paper2013" in param["without_effect"] and entry["name"] == "pie"
    assert "has no effect there" in explain("pie.derandomise")


def test_cake_of_several_transmit_queues_is_explained():
    with pytest.raises(InputError, match="among the transmit queues"):
        explain("cake_mq")


def test_the_kernels_that_a_dialect_may_name_are_listed():
    text = " ".join(explain("fq_codel").split())
    assert "linux-6.1 (6.1.192)" in text and "they differ in `kernel`" in text
    assert "they decide alike" in " ".join(explain("pie").split())
    assert "kernels as dialects: linux-7.2" in " ".join(explain("dualpi2").split())
    assert "kernels" not in explain("madpie")
    assert "@linux" in explain("codel@linux-6.1")
    assert explain("codel@linux-6.1.target") == explain("codel@linux.target")


def test_an_aqm_with_settings_is_explained_as_a_whole():
    for text in ("codel@linux-6.1:target=5ms", "codel@linux:target=2.5ms"):
        assert explain(text) == explain(text.split(":")[0])
        assert explain(f"{text}.target") == explain("codel@linux.target")


def test_flow_queues_over_any_law_are_explained():
    text = explain("fq(pie)")
    assert "max_burst" in text and "drop_batch" in text and "active_queues" in text


@pytest.mark.parametrize(
    ("topic", "says"),
    [
        ("pie@linx", "did you mean `linux`"),
        ("fq(pi)e", "; did you mean `fq_pie`"),
        ("fq(sfq)", "itself"),
    ],
)
def test_a_miss_is_one_sentence(topic, says):
    with pytest.raises(InputError, match=says):
        explain(topic)


def test_json_is_the_declaration(command):
    (shown,) = json.loads(command("explain", "fq(pie@linux)", "--json").stdout)
    assert shown["dialect"] == "linux"
    assert {"params", "behaviours", "vars", "dialects"} <= set(shown)
    assert shown == json.loads(json.dumps(_core.describe_aqm("fq(pie@linux)")))


@pytest.mark.parametrize("path", [*schema_keys.keys()])
def test_every_key_of_a_scenario_is_explained_in_eighty_columns(path):
    lines = explain(path).splitlines()
    assert lines[0].startswith(f"{path} ") and len(lines) > 1
    assert all(len(line) <= WIDTH for line in lines)


def test_a_key_is_shown_with_its_value_its_default_and_its_parts():
    assert "links.rate (rate, or table of kind schedule | bucket | trace" in explain("links.rate")
    assert 'default "0s"' in explain("warmup")
    assert "list of [time, rate, or 0bit]; must be given" in explain("links.rate.schedule.steps")
    assert re.search(r"^  parallel +\(whole number, 1 to 100", explain("flows.app.web"), re.M)


def test_the_name_of_a_link_does_not_matter():
    assert explain("links.uplink.jitter") == explain("links.jitter")


def test_the_nearest_key_is_suggested():
    with pytest.raises(InputError, match=r"did you mean `links\.buffer`"):
        explain("links.bufer")


def test_json_of_a_key_is_its_schema(command):
    (shown,) = json.loads(command("explain", "flows.app", "--json").stdout)
    assert shown["path"] == "flows.app" and shown["required"] is True
    (shown,) = json.loads(command("explain", "links.rate", "--json").stdout)
    assert shown["required"] is False, "a template may stand for it"


@pytest.mark.parametrize("name", [tcp["name"] for tcp in _core.tcps()])
def test_a_tcp_shows_all_its_rules(name):
    text = explain(name)
    assert all(len(line) <= WIDTH for line in text.splitlines())
    assert "loss detection" in text and f'tcp = "{name}"' in text


def test_a_name_of_both_an_aqm_and_a_tcp_shows_both(command):
    assert "(AQM, law)" in explain("madpie") and "madpie  (TCP)" in explain("madpie")
    shown = json.loads(command("explain", "madpie", "--json").stdout)
    assert [entry["kind"] for entry in shown] == ["law", "tcp"]


def test_the_kind_of_a_table_may_be_left_out_of_a_key():
    assert schema_keys.find("topology.hops") == schema_keys.find("topology.parking-lot.hops")
    assert schema_keys.find("topology.kind") == schema_keys.find("topology")
    with pytest.raises(InputError, match=r"did you mean `topology\.parking-lot\.link` or"):
        find("topology.link")
    for path in schema_keys.keys():  # noqa: SIM118, a function
        assert schema_keys.find(path).path == path


@pytest.mark.parametrize("name", list(TABLE))
def test_every_metric_is_explained_without_the_links_of_a_page(name):
    text = explain(name)
    assert f"{name}  (metric, {TABLE[name].scope}" in text
    assert "](" not in text
    assert max(map(len, text.splitlines())) <= WIDTH
    assert explain(f"{TABLE[name].scope}/x/{name}").endswith(text.rpartition("\n\n")[2])


def test_a_metric_says_how_comparisons_judge_it():
    text = explain("queue/bottleneck/delay_p95")
    assert "equivalent      within 5% of the baseline or 1.00 ms, the larger" in text
    assert "verdict         corrected with the headline family" in text
    assert "within 1 percentage point" in explain("utilisation")
    assert "flows (list of table" in explain("flows") and "(metric, class" in explain("flows")
    with pytest.raises(InputError, match="did you mean `delay_p9"):
        explain("delay_p59")
    with pytest.raises(InputError, match="no AQM"):
        explain("queue/bottleneck/goodput")
