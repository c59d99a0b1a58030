"""Kind ``power``: the power fails while a command writes, and unsynced data is lost.

The file operations of a command are recorded once: every file that Python opens for writing, every
rename and removal, and every fsync with the file's content. One input is one instant of that record
and one mode of loss:

``late``    every folder has the names of its last fsync, folders included;
``early``   all names are there, as a file system may write them before the content.

In both modes a file has the content of its last fsync, and is empty without an fsync. Intermediate
states (some names, parts of a page) are not covered. The folder then reads back as the undisturbed
result (or as an earlier one) or is refused, and the command, run again, completes it. After the
last step the folder reads back."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm import commands

WAYS = ("late", "early")


@dataclass(frozen=True)
class Step:
    """An operation on a file: ``open``, ``rename``, ``remove``, ``sync`` or ``sync folder``.

    Attributes:
        what: the operation; also ``make folder``.
        path: path of the file, below the recorded folder.
        more: its new name, or its content at the sync.
    """

    what: str
    path: str
    more: Any = None


def record(folder: Path, command: str) -> list[Step]:
    """The steps of a command in a fresh folder."""

    def recorded() -> int:
        steps: list[Step] = []
        _listen(folder.resolve(), steps)
        status = commands.COMMANDS[command]()
        _CLOSED.append(True)
        Path("steps").write_bytes(pickle.dumps(steps))
        return status

    done = commands.call(folder, recorded)
    assert done.status == 0, done.text
    steps: list[Step] = pickle.loads((folder / "steps").read_bytes())
    return steps


_CLOSED: list[bool] = []


def _listen(root: Path, steps: list[Step]) -> None:
    """Record from now on; audit hooks cannot be removed, so this is for a forked process."""

    def below(path: Any) -> str | None:
        if not isinstance(path, str | bytes | Path):
            return None
        # Nothing here is a link; resolving would open files, which this would record.
        file = Path.cwd() / os.fsdecode(path)
        return _name(file.relative_to(root)) if file.is_relative_to(root) else None

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if _CLOSED or event not in _EVENTS:
            return
        # A removal below a descriptor is of a temporary folder of Python.
        path = below(arguments[0])
        if path is None or (event in ("os.remove", "os.rmdir") and arguments[1] != -1):
            return
        if event != "open":
            more = below(arguments[1]) if event == "os.rename" else None
            steps.append(Step(_EVENTS[event], path, more))
        elif (flags := arguments[2] or 0) & (
            os.O_WRONLY | os.O_RDWR
        ) and not flags & os.O_DIRECTORY:
            steps.append(Step("open", path))

    sync = os.fsync

    def synced(descriptor: int) -> None:
        sync(descriptor)
        path = below(Path(f"/proc/self/fd/{descriptor}").readlink())
        if path is not None and (root / path).is_dir():
            steps.append(Step("sync folder", path))
        elif path is not None:
            steps.append(Step("sync", path, (root / path).read_bytes()))

    os.fsync = synced
    sys.addaudithook(hear)


def _name(path: Path) -> str:
    """A name below the recorded folder; empty for the folder itself."""
    return "" if path == Path() else str(path)


_EVENTS = {"open": "open", "os.rename": "rename", "os.remove": "remove", "os.rmdir": "remove",
           "os.mkdir": "make folder"}  # fmt: skip
# Marks a name as a folder.
_FOLDER = -1


def left(steps: list[Step], way: str, before: dict[str, bytes]) -> dict[str, bytes]:
    """The files after these steps and a power cut, by name.

    Args:
        steps: the operations.
        way: one of `WAYS`.
        before: the files that were synced before.
    """
    names: dict[str, int] = {name: -2 - place for place, name in enumerate(before)}
    held: dict[int, bytes] = {names[name]: content for name, content in before.items()}
    for name in before:
        names |= {str(folder): _FOLDER for folder in Path(name).parents}
    kept = dict(names)  # names that were synced
    for number, step in enumerate(steps):
        match step.what:
            case "open":
                names.setdefault(step.path, number)
            case "make folder":
                names.setdefault(step.path, _FOLDER)
            case "rename":
                names[step.more] = names.pop(step.path)
            case "remove":
                names.pop(step.path, None)
            case "sync":
                held[names[step.path]] = step.more
            case "sync folder":
                kept = {n: i for n, i in kept.items() if _name(Path(n).parent) != step.path}
                kept |= {n: i for n, i in names.items() if _name(Path(n).parent) == step.path}
    found = kept if way == "late" else names
    return {
        name: held.get(opened, b"")
        for name, opened in found.items()
        if opened != _FOLDER and all(str(up) in found for up in list(Path(name).parents)[:-1])
    }


def meet(seed: int, number: int, undisturbed: commands.Undisturbed) -> tuple[str, int]:
    """The problem with an input, or an empty text; and 1."""
    choice = random.Random(f"power {seed} {number}")
    case = choice.choice(list(CASES))
    _, steps = _recorded(undisturbed.scratch, case)
    prefix, way = choice.randrange(len(steps) + 1), choice.choice(WAYS)
    if choice.random() < 0.1:
        prefix = len(steps)
    why = judged(case, prefix, way, undisturbed)
    return (why and f"{case}, {way} after {prefix} of {len(steps)} steps: {why}"), 1


def judged(case: str, prefix: int, way: str, undisturbed: commands.Undisturbed) -> str:
    """The problem after a power cut, or an empty text."""
    first, command = CASES[case]
    expected, _ = undisturbed.of(command)
    before, steps = _recorded(undisturbed.scratch, case)
    folder = commands.fresh(undisturbed.scratch / f"power-{case}-{prefix}-{way}")
    for name, content in left(steps[:prefix], way, before).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    why = ""
    if (folder / name_of(command)).exists() or prefix == len(steps):
        why = commands.wrong(folder, expected, may_refuse=prefix < len(steps))
    if why and first and not commands.wrong(folder, undisturbed.of(first)[0], may_refuse=True):
        why = ""  # the earlier result is complete
    if not why:
        done = commands.call(folder, commands.COMMANDS[command])
        why = "" if done.status == 0 else f"run again: {done.status}, {done.text[-300:]}"
    why = why or commands.wrong(folder, expected, may_refuse=False)
    if not why:
        shutil.rmtree(folder)
    return why


# By name: the previous content of the folder, and the command.
CASES = {"compare": ("", "compare"), "over": ("other", "compare"), "study": ("", "study")}


def name_of(command: str) -> str:
    return commands.STORE if command == "study" else commands.OUT


def _recorded(scratch: Path, case: str) -> tuple[dict[str, bytes], list[Step]]:
    """The files before, and the steps."""
    first, command = CASES[case]
    path = scratch / f"steps-{case}"
    if not path.exists():
        folder = commands.fresh(scratch / f"record-{case}")
        if first:
            assert commands.call(folder, commands.COMMANDS[first]).status == 0
        before = {
            str(file.relative_to(folder)): file.read_bytes()
            for top in ("out", "cache") for file in (folder / top).rglob("*") if file.is_file()
        }  # fmt: skip
        path.write_bytes(pickle.dumps((before, record(folder, command))))
    found: tuple[dict[str, bytes], list[Step]] = pickle.loads(path.read_bytes())
    return found
