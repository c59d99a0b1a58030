"""`sojourn check tcp --scripts DIR`."""

import json
from pathlib import Path

import pytest

from sojourn.cli import main

OURS = Path(__file__).parents[1] / "crates" / "scripts" / "testdata"

OPENING = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32000 <mss 1000,nop,nop,sackOK>
+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK>
+.1 < . 1:1(0) ack 1 win 32000
+0 accept(3, ..., ...) = 4
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "below").mkdir()
    (tmp_path / "defaults.sh").write_text("sysctl -q net.ipv4.tcp_sack=1\n")
    (tmp_path / "holds.pkt").write_text(f"`./defaults.sh`\n{OPENING}")
    (tmp_path / "below" / "other.pkt").write_text(f"`./defaults.sh`\n{OPENING}")
    (tmp_path / "wrong.pkt").write_text(f"{OPENING}+0 %{{ assert tcpi_snd_cwnd == 3 }}%\n")
    return tmp_path


def test_scripts_of_ours_pass(capsys):
    assert main(["check", "tcp", "--scripts", str(OURS)]) == 0
    shown = capsys.readouterr().out
    assert "passed          rfc3042-limited-transmit" in shown
    assert shown.endswith("7 passed, 0 not applicable, 0 failed, 0 unreadable\n")


def test_a_failed_script_shows_both_sides_and_sets_the_exit_code(folder, capsys):
    assert main(["check", "tcp", "--scripts", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert "not applicable  below/other\n                line 1: `./defaults.sh` is not" in shown
    assert "expected assert tcpi_snd_cwnd == 3\n                got tcpi_snd_cwnd is 10" in shown


def test_json_has_every_script_and_the_counts_of_those_chosen(folder, capsys):
    assert main(["check", "tcp", "--scripts", str(folder), "--only", "h*", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"passed": 1, "not applicable": 0, "failed": 0, "unreadable": 0}
    assert found["scripts"][0]["script"] == "holds"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("tcp", "name their --scripts DIR"),
        ("codel --scripts .", "go with `sojourn check tcp`"),
        ("tcp --scripts nowhere", "no such folder nowhere"),
        ("tcp --scripts {folder}/below/none", "no such folder"),
        ("tcp --scripts {folder} --only zzz", "none of 3 scripts is called zzz"),
    ],
)
def test_what_is_wrong_with_the_words_is_one_sentence(folder, capsys, words, sentence):
    assert main(["check", *words.format(folder=folder).split()]) == 2
    assert sentence in capsys.readouterr().err


def test_a_script_that_is_not_text_does_not_keep_the_others_from_running(folder, capsys):
    (folder / "binary.pkt").write_bytes(b"\xff\xfe bad\n")
    assert main(["check", "tcp", "--scripts", str(folder), "--only", "[bh]*"]) == 1
    shown = capsys.readouterr().out
    assert "unreadable      binary\n" in shown
    assert "binary.pkt: is not UTF-8 text, so it cannot be a script\n" in shown
    assert shown.endswith("1 passed, 0 not applicable, 0 failed, 1 unreadable\n")
