"""The public interface is the one on record (docs/reference/interface.md)."""

import os
from pathlib import Path

import interface

RECORD = Path(__file__).parent.parent / "testdata" / "interface.txt"


def test_the_public_interface_is_the_one_on_record():
    found = [*interface.lines()]
    if os.environ.get("SOJOURN_UPDATE"):
        RECORD.write_text("\n".join(found) + "\n", encoding="utf-8")
    recorded = RECORD.read_text(encoding="utf-8").splitlines()
    removed = [line for line in recorded if line not in set(found)]
    added = [line for line in found if line not in set(recorded)]
    assert (removed, added) == ([], []), "see docs/reference/interface.md; SOJOURN_UPDATE=1 records"
    assert found == recorded


def test_every_part_of_the_interface_is_on_record():
    recorded = RECORD.read_text(encoding="utf-8")
    for known in (
        "sojourn run file (required)", "sojourn study run --store (required)", "class Result",
        "summary.metric", "Link.rate", "sojourn_law_",
    ):  # fmt: skip
        assert known in recorded, known
