"""The page of a study: it stands alone, and shows what the table has."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from sojourn import studies
from sojourn.errors import InputError
from sojourn.studies.page import _front, save

pytestmark = pytest.mark.slow

DELAY, USED = "queue/bottleneck/delay_p95", "queue/bottleneck/utilisation"
STUDY = {
    "name": "a </script> study", "scenario": "dumbbell-reno", "metrics": [DELAY, USED], "seeds": 2,
    "set": {"duration": "1s", "warmup": "0s"},
    "axes": [
        {"name": "aqm", "key": "links.bottleneck.queue", "values": ["pie", "codel"]},
        {"name": "flows", "key": "flows.bulk.count", "values": [1, 10, 2]},
    ],
}  # fmt: skip


def test_the_page_needs_no_network_and_has_every_point_with_its_command(tmp_path):
    pytest.importorskip("altair")
    results = studies.run(studies.parse(STUDY), tmp_path / "s", executor=ThreadPoolExecutor(2))
    save(results, tmp_path / "s.html")
    page = (tmp_path / "s.html").read_text()
    markup = re.sub(r"<script>.*?</script>", "<script>", page, flags=re.DOTALL)
    assert "src=" not in markup
    assert "href=" not in markup
    assert "<title>a &lt;/script&gt; study</title>" in page
    points = json.loads(re.search(r"^const points = (.*);$", page, re.MULTILINE)[1])
    assert [point["label"] for point in points.values()][:2] == [
        "aqm pie, flows 1", "aqm pie, flows 10",
    ]  # fmt: skip
    assert "--set flows.bulk.count=10" in points["1"]["command"]
    delay = results.estimates()[1].estimates[DELAY]
    assert points["1"]["numbers"][0][:2] == [DELAY, f"{delay.mean:.4g}"]


def test_a_study_without_runs_has_no_page(tmp_path):
    pytest.importorskip("altair")
    store = studies.storage.StudyStore(studies.folder.open_folder(tmp_path))
    with pytest.raises(InputError, match="no run is there yet"):
        save(studies.Results(studies.parse(STUDY), store), tmp_path / "s.html")


def test_the_front_has_what_no_other_beats_in_both():
    pairs = [(1.0, 0.8), (2.0, 0.9), (2.0, 0.8), (None, 1.0)]
    assert _front(pairs, [DELAY, USED]) == [True, True, False, False]
