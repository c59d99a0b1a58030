"""Kind ``damage``: a file that is read back has changed on the disk.

One input is one file of a complete result or of the store of runs, and one kind of damage. The
reader reports the damage, or does not need the file and finds the undisturbed result; the command,
run again, completes the result."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import sojourn
from storm import commands


def _bit(content: bytes, choice: random.Random) -> bytes:
    place = choice.randrange(len(content))
    return (
        content[:place] + bytes([content[place] ^ 1 << choice.randrange(8)]) + content[place + 1 :]
    )


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "bit": _bit,
    "cut": lambda content, choice: content[: choice.randrange(len(content))],
    "empty": lambda _content, _choice: b"",
    "zeros": lambda content, _choice: bytes(len(content)),
    "text": lambda _content, _choice: b"not what was written\n",
    "no UTF-8": lambda content, _choice: b"\xff\xfe" + content,
    "twice": lambda content, _choice: content + content,
    "page": lambda content, choice: _page(content, choice.randrange(0, len(content), 512)),
}


def _page(content: bytes, at: int) -> bytes:
    return content[:at] + bytes(len(content[at : at + 512])) + content[at + 512 :]


def opened() -> str:
    """Every table of the comparison here."""
    found = sojourn.Comparison.open(commands.OUT)
    names = ("summary", "states", "histograms")
    return repr([
        [str(result.table(name).to_pydict()) for name in names]
        for aqm in found.aqms for result in found.of(aqm)
    ])  # fmt: skip


def meet(seed: int, number: int, undisturbed: commands.Undisturbed) -> tuple[str, int]:
    """The problem with an input, or an empty text; and 1."""
    choice = random.Random(f"damage {seed} {number}")
    command = choice.choice(["compare", "study"])
    expected, _ = undisturbed.of(command)
    folder = commands.fresh(undisturbed.scratch / f"damage-{number}")
    read_back = []
    for top in ("out", "store", "cache"):
        if (undisturbed.folder(command) / top).exists():
            shutil.copytree(undisturbed.folder(command) / top, folder / top)
            read_back += [p for p in (folder / top).rglob("*") if p.is_file() and _is_read(p)]
    path, (name, damage) = choice.choice(sorted(read_back)), choice.choice(list(DAMAGES.items()))
    path.write_bytes(damage(path.read_bytes(), choice))
    why = _judged(folder, command, undisturbed, expected)
    if why:
        return f"{command}, {path.relative_to(folder)}, {name}: {why}", 1
    shutil.rmtree(folder)
    return "", 1


def _is_read(path: Path) -> bool:
    return path.suffix in (".json", ".parquet", ".run") and path.stat().st_size > 0


def _judged(
    folder: Path, command: str, undisturbed: commands.Undisturbed, expected: dict[str, object]
) -> str:
    read = opened if command == "compare" else commands.facts
    found = commands.call(folder, read)
    if found.status not in (0, 2):
        return f"reading: {found.status}, {found.text[-300:]}"
    whole = commands.call(undisturbed.folder(command), read).value
    if command == "compare" and found.value not in (None, whole):
        return "reads back as something else"
    done = commands.call(folder, commands.COMMANDS[command])
    if done.status != 0:
        return f"run again: {done.status}, {done.text[-300:]}"
    return commands.wrong(folder, expected, may_refuse=False)
