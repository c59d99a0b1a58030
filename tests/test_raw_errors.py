"""Inputs that caused a traceback: now one sentence, or no error."""

import os

import pytest

COMPARE = ("compare", "small.toml", "--aqm", "pie,codel", "--seeds", "2", "--out", "out")


def test_a_scenario_in_json_that_is_nested_deeply_is_refused(command):
    deep = "[" * 100_000 + "]" * 100_000
    (command.folder / "deep.json").write_text(f'{{"name": "x", "links": {deep}}}')
    assert "deep.json:1: not JSON: recursion limit" in command.refused("run", "deep.json")


@pytest.mark.parametrize("zone", ["UTC99999999999999999", "<+999>-999:99", ":/nonsense", "%%%"])
def test_a_time_zone_that_is_none_changes_nothing(command, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    assert command(*COMPARE).returncode == 0


@pytest.mark.parametrize("place", ["named", "here", "folder", "config"])
def test_a_matplotlibrc_that_is_not_text_is_refused_before_any_run(command, monkeypatch, place):
    folder = command.folder / "settings"
    folder.mkdir()
    file = command.folder / "matplotlibrc" if place == "here" else folder / "matplotlibrc"
    file.write_bytes(b"font.size: 9\n\xff\xfe")
    if place == "config":
        monkeypatch.setenv("MPLCONFIGDIR", str(folder))
    elif place != "here":
        monkeypatch.setenv("MATPLOTLIBRC", str(file if place == "named" else folder))
    message = command.refused(*COMPARE)
    assert "matplotlibrc: is not UTF-8 text, so it cannot be a matplotlibrc" in message
    assert not (command.folder / "out" / "comparison.json").exists()


def test_a_matplotlibrc_that_is_a_pipe_is_refused(command, monkeypatch):
    os.mkfifo(command.folder / "pipe")
    monkeypatch.setenv("MATPLOTLIBRC", str(command.folder / "pipe"))
    assert "pipe: is not a regular file" in command.refused(*COMPARE)


def test_the_backend_of_matplotlib_does_not_matter(command, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "nonsense")
    assert command(*COMPARE).returncode == 0


@pytest.mark.parametrize(
    "metaclass",
    [
        'def __getattribute__(cls, name):\n        raise RuntimeError("no")',
        'def __getattr__(cls, name):\n        raise RuntimeError("no")',
        'def __dir__(cls):\n        raise RuntimeError("no")',
        "def __dir__(cls):\n        raise SystemExit(0)",
        "__doc__ = property(lambda cls: 1 / 0)",
    ],
)
@pytest.mark.parametrize("named", ["", ":Law"])
def test_a_metaclass_that_raises_is_refused_with_its_line(command, metaclass, named):
    (command.folder / "law.py").write_text(
        f"class Meta(type):\n    {metaclass}\n\n\nclass Law(metaclass=Meta):\n"
        "    def on_enqueue(self, *_):\n        return None\n"
    )
    message = command.refused("run", "small.toml", "--aqm", f"law.py{named}")
    assert message.startswith("sojourn: error: law.py"), message


@pytest.mark.parametrize(
    "words", [("validate",), ("study", "plan"), ("tune", "--store", "s"), ("import",)]
)
def test_a_file_that_is_too_large_is_refused_by_its_name(command, words):
    large = command.folder / "large.toml"
    large.touch()
    os.truncate(large, 200_000_000)
    said = command.refused(*words, "large.toml")
    assert "large.toml: has more than the 100 MB that a" in said


@pytest.mark.parametrize(
    ("words", "name"),
    [(("run",), "marked.json"), (("study", "plan"), "marked.toml"), (("tune",), "marked.toml")],
)
def test_a_byte_order_mark_is_named_with_the_remedy(command, words, name):
    text = '{"duration": "1s"}' if name.endswith("json") else 'name = "x"\n'
    (command.folder / name).write_text(text, encoding="utf-8-sig")
    said = command.refused(*words, name, *(["--store", "s"] if words == ("tune",) else []))
    assert f"{name}: begins with a byte order mark (BOM); save it as UTF-8 without" in said


def test_a_scenario_in_toml_may_have_a_byte_order_mark(command):
    text = (command.folder / "small.toml").read_text()
    (command.folder / "marked.toml").write_text(text, encoding="utf-8-sig")
    assert command("validate", "marked.toml").returncode == 0
