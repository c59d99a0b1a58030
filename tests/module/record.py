"""Trials of the kernel module in guests: writes tables of docs/evidence/kernel-module.md.

    python tests/module/record.py [--show] [KERNEL...]
    python tests/module/record.py --trials FOLDER
    python tests/module/record.py --judge FOLDER

For each kernel, a release or a path (by default 6.1), whose module must have been built,
`inside.py` does its trials in a guest with little memory. A failing trial ends this script with an
error, and the page stays unchanged. The second and third form are for a machine in which
`inside.py` is started by
hand: they write the trials into a folder, and judge the results there."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn import _core, files
from sojourn.engines import child
from sojourn.engines.linux import guest, kernel
from sojourn.engines.linux.kernel import archives, module

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "evidence" / "kernel-module.md"
BEGIN, END = "<!-- module: begin -->\n", "<!-- module: end -->\n"
# Memory of a guest; a flood needs more memory than the kernel can allocate at once (65,536
# packets).
MEMORY = "256M"
# KASAN needs a byte for eight, redzones around all objects, and delays frees.
DEBUG_MEMORY = "1G"
PATIENCE_S = 1800.0
LITTLE_MEMORY = ("codel@linux:limit=1000000p", "fq_codel@linux:limit=1000000p")
REFUSED = (
    "nonsense", "codel@linux:target=-1ms", "pie:alpha=1", "x" * 1100, "pie:tupdate=1ns",
    "pi2:tupdate=999us", "dualpi2:tupdate=1ns", "fq(madpie):tupdate=1us", "ared:adapt_interval=1ns",
    "pi:sample_rate=1000000hz",
)  # fmt: skip
# This many interfaces need more memory than the guest has.
LARGE, LARGE_COUNT = "fq(pie):flows=65536", 200
# A shaper in the library holds packets back while the interface goes down.
SHAPED = ("cake:bandwidth=500kbit",)
HEAD = "| kernel | AQMs | changes | refused texts | link down | module loads | full memory | log |"


def main(arguments: list[str]) -> None:
    """Do the trials on each kernel; write the page."""
    if arguments[:1] == ["--trials"]:
        _write_trials(Path(arguments[1]), [])
        return
    if arguments[:1] == ["--judge"]:
        _judge(json.loads((Path(arguments[1]) / "found.json").read_text()))
        return
    named = [word for word in arguments if not word.startswith("--")]
    rows = []
    for name in named or [archives.DEFAULT_RELEASE]:
        found = tried(kernel.given(Path(name)))
        if "--show" in arguments:
            print(json.dumps(found, indent=1))
        rows.append(_judge(found))
    if "--show" not in arguments:
        table = "\n".join([HEAD, "|" + "---|" * HEAD.count(" | ") + "---|", *rows]) + "\n"
        files.replace_between(PAGE, BEGIN, END, table)


def _judge(found: dict[str, Any]) -> str:
    """The row of the table, also printed; ends with an error if something is wrong."""
    if faults := judged(found):
        raise SystemExit("\n".join([json.dumps(found, indent=1), *faults]))
    print(row(found))
    return row(found)


def _write_trials(folder: Path, own: list[str]) -> None:
    """The trials for `inside.py`; `own` are additional disciplines of the kernel."""
    ours = [f"sojourn aqm {text}" for text in ("cake", "dualpi2@linux", "fq_codel@linux", "codel")]
    aqms = [entry["name"] for entry in _core.aqms()]
    trials = {
        "aqms": aqms, "refused": REFUSED, "down": [*aqms, *SHAPED], "packets": LITTLE_MEMORY,
        "segments": [*own, *ours], "large": [LARGE, LARGE_COUNT],
    }  # fmt: skip
    (folder / "trials.json").write_text(json.dumps(trials))
    shutil.copy(HERE / "inside.py", folder)


def tried(which: kernel.Kernel) -> dict[str, Any]:
    """Do the trials in a guest; return the results."""
    memory = DEBUG_MEMORY if which.is_debug else MEMORY

    def write(folder: Path) -> None:
        _write_trials(folder, ["cake unlimited besteffort", "fq_codel", "codel"])

    found = in_guest(which, write, "inside.py", memory)
    if found and which.is_debug:
        found["kernel"] += " with KASAN and lockdep"
    return found


def in_guest(
    which: kernel.Kernel,
    write: Callable[[Path], None],
    script: str,
    memory: str,
    options: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Run a script of this folder in a guest with the module; return what it found.

    Args:
        which: the guest's kernel.
        write: puts the trials and the scripts into a folder, its argument.
        script: the name of the script to start.
        memory: memory of the guest.
        options: further options of the kernel.
    """
    made = module.require(which.path.parent)
    with child.scratch() as folder:
        shutil.copy(made, folder.shared)
        shutil.copy(made.with_name(module.TC_WORDS), folder.shared)
        write(folder.shared)
        python = shlex.quote(os.path.realpath(sys.executable))
        (folder.shared / guest.INIT).write_text(
            "export PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
            "mount -t proc proc /proc && mount -t sysfs sysfs /sys\n"
            f"exec {python} -I -S /run/{script} /run\n"
        )
        command = guest.command_of(which, 1, memory=memory)
        command[1:1] = options
        seen = guest.sight(which.path, folder, "{}")
        with (
            folder.console.open("wb") as console,
            child.group(command, folder, console, seen) as running,
            suppress(subprocess.TimeoutExpired),
        ):
            running.wait(PATIENCE_S)
        at = folder.shared / "found.json"
        found: dict[str, Any] = json.loads(at.read_text()) if at.exists() else {}
        if not found.get("ended"):
            left = [folder.console, folder.shared / "failed"]
            found["console"] = "".join(
                path.read_text(errors="replace")[-3000:] for path in left if path.exists()
            )
    return found


def judged(found: dict[str, Any]) -> list[str]:
    """The problems, in sentences."""
    if not found.get("ended"):
        return [f"the guest did not come to its end: {found.get('console', 'it said nothing')}"]
    wrong = [f"the kernel's log: {line}" for line in found["ill"]]
    wrong += [f"{name}: {value}" for name, value in found.items()
              if name not in ("kernel", "ended") and isinstance(value, str)]  # fmt: skip
    if wrong:
        return wrong
    for each in found["aqms"]:
        good = each["shown"] and each["drops_have_causes"] and each["left_or_dropped"]
        if not good:
            wrong.append(f"{each['aqm']}: {each}")
    wrong += [
        f"{text}: {said}" for text, said in found["refused"] if said.startswith(("was", "ch"))
    ]
    changes, unloading, short = found["changes"], found["unloading"], found["short"]
    if not 0 < short["made"] < LARGE_COUNT or "not enough memory" not in short["said"]:
        wrong.append(f"short: {short}")
    if not changes["left_or_dropped"] or changes["backlog_in_the_end"]:
        wrong.append(f"changes: {changes}")
    if "in use" not in unloading["in_use"] or not unloading["loaded"]:
        wrong.append(f"unloading: {unloading}")
    wrong += [
        f"down: {each}" for each in found["down"]
        if each["left"] or not each["waited"] or not each["passed"]
    ]  # fmt: skip
    for kind, largest in found["segments"]:
        splits = any(word in kind for word in ("cake", "dualpi2"))
        if splits != (largest <= 1514):
            wrong.append(f"segments: {kind}: a frame of {largest} B")
    return wrong


def row(found: dict[str, Any]) -> str:
    """The row of the table."""
    sent = sum(each["sent"] for each in found["aqms"])
    full = "; ".join(
        f"{each['aqm'].partition('@')[0]}: {each['waited']} of {each['sent']} packets queued"
        for each in found["packets"]
    )
    cells = [
        found["kernel"], f"{len(found['aqms'])}, {sent} packets", str(found["changes"]["changes"]),
        str(len(found["refused"])), str(len(found["down"])), str(found["unloading"]["times"]), full,
        "clean",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
