"""Network namespaces on this machine, as root or in a user namespace, and whether they work."""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from sojourn import _core
from sojourn.engines.child import Folder, Watcher, carry_out
from sojourn.engines.linux import guest
from sojourn.engines.protocol import Availability
from sojourn.errors import InputError, Unavailable

NAME = "host"
_TUN = Path("/dev/net/tun")
_SWITCHES = (
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "1"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
)
# What the kernel's own bottleneck needs in addition to its discipline, with the modules.
_MODULES = {
    "cbs": "sch_cbs", "clsact": "sch_ingress", "netem": "sch_netem",
    "matchall": "cls_matchall", "mirred": "act_mirred",
}  # fmt: skip
# Linux 6.1 net/sched/cls_api.c, tcf_proto_lookup_ops, and act_api.c, tc_action_load_ops.
_NO_CLASSIFIER = "TC classifier not found"
_NO_ACTION = "Failed to load TC action module"
_PATIENCE_S = 10.0


def missing() -> tuple[str, str] | None:
    """What this machine lacks for namespaces with TUN devices, with the command that fixes it."""
    if platform.system() != "Linux":
        return "network namespaces need Linux", ""
    for program, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(program) is None:
            return f"{program}: not installed", f"apt-get install {package}"
    failure = _try("true")
    if failure:
        return f"no network namespaces for this user ({failure})", _permission()
    if not _TUN.exists():
        return f"{_TUN}: is not there", "modprobe tun   # as root"
    if not os.access(_TUN, os.R_OK | os.W_OK):
        return f"{_TUN}: cannot be opened", f"chmod 666 {_TUN}   # as root"
    failure = _try("ip", "tuntap", "add", "dev", "sojourn-try", "mode", "tun")
    if failure:
        return f"{_TUN}: makes no device ({failure})", "modprobe tun   # as root"
    return None


def require() -> None:
    """Raise an error if something is missing.

    Raises:
        InputError: names what is missing and the remedy.
    """
    lacks = missing()
    if lacks is not None:
        what, remedy = lacks
        raise Unavailable(f"host: {what}" + (f"; {remedy}" if remedy else ""))


@cache
def offers(kind: str) -> bool:
    """Whether this kernel has a queueing discipline, even if it needs arguments."""
    failure = _try("tc", "qdisc", "add", "dev", "lo", "root", *kind.split())
    return "Specified qdisc kind is unknown" not in failure and "qdisc not found" not in failure


@cache
def lacks_for_filters() -> tuple[str, ...]:
    """Which of ``matchall`` and ``mirred`` this kernel lacks; they redirect and copy packets."""
    hook, action = "tc qdisc add dev lo clsact", "action mirred egress mirror dev lo"
    filtered = _try("sh", "-c", f"{hook} && tc filter add dev lo egress matchall {action}")
    acted = _try("tc", "actions", "add", *action.split())
    found = (("matchall", _NO_CLASSIFIER in filtered), ("mirred", _NO_ACTION in acted))
    return tuple(part for part, is_absent in found if is_absent)


def _absent(kinds: set[str]) -> list[str]:
    """Missing disciplines, and missing parts of filters at ``clsact``."""
    absent = [kind for kind in sorted(kinds) if not offers(kind)]
    return absent + (list(lacks_for_filters()) if "clsact" in kinds else [])


def availability() -> Availability:
    """Whether scenarios run here, for `sojourn doctor`."""
    name = f"{NAME}, real time"
    lacks = missing()
    if lacks is not None:
        what, remedy = lacks
        return Availability(name, False, what, remedy)
    absent = _absent({"cbs", "clsact", "netem"})
    who = "as root" if os.geteuid() == 0 else "in a user namespace"
    note = f"real kernel {platform.release()}, {who}"
    if not absent:
        return Availability(name, True, note)
    note += f'; has no {", ".join(absent)}, so only with bottleneck = "sojourn"'
    modules = " ".join(_MODULES[part] for part in absent)
    return Availability(name, True, note, f"modprobe -a {modules}   # as root, if it has them")


class Host:
    """This machine's kernel, in real time."""

    where = "host, real time"
    virtual_time = False
    identity = None
    confined = False

    def __init__(self) -> None:
        require()
        self.version = platform.release()

    def plan(self, scenario: _core.Scenario) -> str:
        """The plan; our router delays packets itself, so no delay element is needed.

        Raises:
            ScenarioError: this engine cannot do what the scenario asks for.
            InputError: this kernel lacks what it needs.
        """
        text = _core.linux_plan(scenario, hz(), delays_in_router=True, version=self.version)
        plan = json.loads(text)
        kinds = {row["kind"] for row in plan["expected"]}
        if "kernel" in plan["bottleneck"]:
            kinds.add("cbs")
        absent = _absent(kinds)
        if absent:
            raise InputError(
                f"engine.linux.where: this machine's kernel has no {', '.join(absent)}; set "
                'engine.linux.bottleneck = "sojourn", which needs none, or where = "guest"'
            )
        return text

    def carry_out(self, folder: Folder, plan: str, _seed: int, watcher: Watcher) -> None:
        """Carry out a plan; its results are in the folder afterwards."""
        command = [sys.executable, "-I", "-S", str(guest.BOOT), str(_core.__file__),
                   str(folder.shared), guest.paths(), NAME]  # fmt: skip
        carry_out(command, folder, plan, watcher, "run on the host")


def hz() -> int | None:
    """Timer interrupts per second of this kernel; None if its configuration cannot be read."""
    packed, plain = Path("/proc/config.gz"), Path(f"/boot/config-{platform.release()}")
    try:
        if packed.exists():
            text = gzip.decompress(packed.read_bytes()).decode()
        else:
            text = plain.read_text()
    except OSError:
        return None
    found = re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else None


def _try(*command: str) -> str:
    """The message of a command that fails in a fresh namespace; empty if it works."""
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    try:
        done = subprocess.run(
            ["unshare", *rights, "--net", *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE_S,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    return " ".join(done.stderr.split()) or f"exit code {done.returncode}"


def _permission() -> str:
    """The setting that forbids user namespaces, or else the advice to use root."""
    for path, closed, opened in _SWITCHES:
        switch = Path(path)
        if os.geteuid() != 0 and switch.exists() and switch.read_text().strip() == closed:
            name = path.removeprefix("/proc/sys/").replace("/", ".")
            return f"sysctl -w {name}={opened}   # as root"
    return "run as root, with CAP_NET_ADMIN and CAP_SYS_ADMIN"
