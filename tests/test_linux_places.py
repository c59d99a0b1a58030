"""The places of the engine linux: detected, chosen, refused with the remedy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from guests import in_real_time, numbers, on_linux
from sojourn import _core
from sojourn.engines import registry
from sojourn.engines.linux import host, kernel, uml
from sojourn.errors import InputError, ScenarioError

LACKS = host.missing()
needs_spaces = pytest.mark.skipif(
    LACKS is not None and not os.environ.get("CI"), reason=f"no namespaces: {LACKS}"
)

TEXT = """
name = "places"
duration = "4s"
warmup = "1s"
[engine.linux]
where = "{where}"
bottleneck = "{bottleneck}"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "{queue}"
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
cc = "cubic"
app = {{ kind = "bulk" }}
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
app = {{ kind = "cbr", rate = "87kbit", packet = "218B" }}
"""


def scenario(where: str, bottleneck: str = "sojourn", queue: str = "codel@linux") -> _core.Scenario:
    return _core.Scenario.load(TEXT.format(where=where, bottleneck=bottleneck, queue=queue))


@pytest.mark.long
@pytest.mark.nightly
@needs_spaces
def test_the_host_runs_our_router_under_its_own_tcp() -> None:
    result = sojourn.Result(in_real_time(scenario("host")))
    facts = result.manifest["linux"]
    assert facts["where"] == "host, real time"
    assert facts["virtual_time"] is False
    assert facts["delay_accuracy_ns"] > 0
    found = {"/".join(row[:3]): row[3] for row in result.summary_rows}
    assert found["queue/bottleneck/utilisation"] > 0.5
    assert found["class/cbr/goodput"] == pytest.approx(87_000 * 190 / 218, rel=0.1)
    # 10 ms of the link and 10 ms of the access links, one way.
    assert found["class/cbr/owd_p50"] > 0.020


@needs_spaces
def test_the_host_refuses_what_its_kernel_lacks() -> None:
    absent = [kind for kind in ("cbs", "codel", "netem") if not host.offers(kind)]
    if not absent:
        pytest.skip("this kernel has cbs, codel and netem")
    with pytest.raises(InputError, match=absent[0]) as error:
        on_linux(scenario("host", "kernel"), _core.Cancel())
    assert 'bottleneck = "sojourn"' in str(error.value)


@pytest.mark.slow
@needs_spaces
def test_nothing_stays_in_the_hosts_name_spaces() -> None:
    before = _interfaces(), sorted(Path("/run").iterdir())
    on_linux(scenario("host"), _core.Cancel())
    assert (_interfaces(), sorted(Path("/run").iterdir())) == before


@needs_spaces
def test_a_cancelled_run_on_the_host_ends() -> None:
    cancel = _core.Cancel()
    cancel.cancel()
    with pytest.raises(_core.Cancelled):
        on_linux(scenario("host"), cancel)


def test_the_host_takes_no_kernel() -> None:
    with pytest.raises(InputError, match="which has a kernel already"):
        on_linux(scenario("host"), _core.Cancel(), Path(sys.executable))


def test_a_place_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ScenarioError, match="where"):
        scenario("moon")


def test_debians_guest_runs_or_says_why_not() -> None:
    """The guest's kernel cannot restore the registers of some newer CPUs, and must report that."""
    found = uml.availability()
    if found.works:
        run = in_real_time(scenario("uml", "kernel"))
        assert numbers(run)["queue/bottleneck/utilisation"] > 0.5
        return
    assert found.remedy
    with pytest.raises(InputError) as error:
        on_linux(scenario("uml", "kernel"), _core.Cancel())
    assert found.note in str(error.value)
    assert found.remedy in str(error.value)


def test_modules_come_behind_those_that_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uml, "_MODULES", tmp_path)
    (tmp_path / "6.1").mkdir()
    (tmp_path / "6.1" / "modules.dep").write_text(
        "kernel/sch_fq_pie.ko: kernel/sch_pie.ko kernel/crc.ko\nkernel/sch_pie.ko: kernel/crc.ko\n"
        "kernel/crc.ko:\n"
    )
    ordered = uml._in_order(["sch_pie", "sch_fq_pie", "built_in"], "6.1")
    assert [path.name for path in ordered] == ["crc.ko", "sch_pie.ko", "sch_fq_pie.ko"]


def test_a_kernel_asked_for_in_vain_names_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "find", lambda _hz=0: None)
    with pytest.raises(InputError, match="sojourn kernel build"):
        on_linux(scenario("guest"), _core.Cancel())


def test_doctor_shows_all_three_places_with_remedies() -> None:
    places = registry.find("linux").doctor()
    assert [place.name.split(", ")[1] for place in places] == ["guest", "host", "uml"]
    assert all(place.works or place.remedy for place in places)


@pytest.mark.parametrize(
    ("filtered", "acted", "absent"),
    [
        ("Error: TC classifier not found.", "", ["matchall"]),
        ("Error: Failed to load TC action module.", "Failed to load TC action module.", ["mirred"]),
        ("Error: TC classifier not found.", "Failed to load TC action module.",
         ["matchall", "mirred"]),
    ],
)  # fmt: skip
def test_doctor_names_what_filters_of_the_hosts_kernel_lack(
    monkeypatch: pytest.MonkeyPatch, filtered: str, acted: str, absent: list[str]
) -> None:
    """The kernel's messages are those of Linux 6.1 cls_api.c and act_api.c."""
    host.lacks_for_filters.cache_clear()
    monkeypatch.setattr(host, "missing", lambda: None)
    monkeypatch.setattr(host, "offers", lambda _kind: True)
    monkeypatch.setattr(host, "_try", lambda *words: filtered if words[0] == "sh" else acted)
    found = host.availability()
    host.lacks_for_filters.cache_clear()
    assert f'has no {", ".join(absent)}, so only with bottleneck = "sojourn"' in found.note
    modules = {"matchall": "cls_matchall", "mirred": "act_mirred"}
    assert found.remedy.split("   ")[0] == f"modprobe -a {' '.join(modules[x] for x in absent)}"


def _interfaces() -> list[str]:
    shown = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True)
    return sorted(line.split()[0] for line in shown.stdout.splitlines())
