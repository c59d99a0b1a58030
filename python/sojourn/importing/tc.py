"""Set-ups of tc, from a text or from this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from sojourn import reading
from sojourn.errors import InputError

_SECONDS = 10.0


def text_of(source: str | None, device: str | None) -> str:
    """The text of a set-up.

    Args:
        source: a file, ``-`` for standard input, or None for this machine's set-up.
        device: a device of this machine; only without a file.

    Raises:
        InputError: neither a file nor a device is given, or it cannot be read.
    """
    if source is None:
        if device is None:
            raise InputError(
                "names no set-up: give a file, - for standard input, or --dev eth0 for a device "
                "of this machine"
            )
        return _of_machine(device)
    if source == "-":
        given = reading.all_of(sys.stdin.buffer, "set-up")
        return reading.decoded(given, "standard input", "set-up")
    path = Path(source)
    return reading.decoded(reading.content(path), reading.shown(path), "set-up")


def _of_machine(device: str) -> str:
    """The output of tc for a device and ifbs: JSON, unless there are classes."""
    classes = {
        name: _tc("-d", "class", "show", "dev", name) for name in (device, f"ifb4{device}")
        if name == device or Path("/sys/class/net", name).exists()
    }  # fmt: skip
    if any(f"class {kind}" in text for text in classes.values() for kind in ("htb", "hfsc")):
        # `tc -j class show` prints text (iproute2 6.1), so both are read as text.
        return "".join(
            f"tc -d -s qdisc show dev {name}\n{_tc('-d', '-s', 'qdisc', 'show', 'dev', name)}"
            f"tc -d class show dev {name}\n{text}"
            f"tc filter show dev {name}\n{_tc('filter', 'show', 'dev', name)}"
            for name, text in classes.items()
        )
    shown = json.loads(_tc("-j", "-d", "-s", "qdisc", "show"))
    held = [it for it in shown if it.get("dev") == device or it.get("dev", "").startswith("ifb")]
    if not any(it.get("dev") == device for it in held):
        raise InputError(f"--dev {device}: tc shows no queue of it; `ip link` lists the devices")
    return json.dumps(held)


def _tc(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["tc", *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError:
        raise InputError(
            "--dev: this machine has no tc; install iproute2, or give its output as a file"
        ) from None
    except subprocess.TimeoutExpired:
        raise InputError(f"--dev: tc did not answer in {_SECONDS:g} s") from None
    if done.returncode:
        raise InputError(f"--dev: {done.stderr.strip() or 'tc failed'}")
    return done.stdout
