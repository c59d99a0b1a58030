"""The user's request: hosts, commands, and files of the machine that programs may read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.describing.quantity import quantity
from sojourn.errors import InputError

Commands = Mapping[str, str | Sequence[str]]
"""One or several shell commands by host, or by host and start (``client@2s``)."""

SIDES = ("server", "client")
GROUP = "programs"
"""The group of flows that programs replace, if the scenario has one of this name."""
_HOST = re.compile(r"(server|client)(-?[a-z0-9]+)*")
_MOST_NAME = 60
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Servers start at once, clients when the servers listen.
_CLIENTS_START_NS = 1_000_000_000
_LATEST_NS = 2**62
FOLDER_BYTES = 256_000_000
_MOST_PROCESSES = 400


@dataclass(frozen=True)
class Command:
    """A command for a host.

    Attributes:
        host: the name of its host.
        text: the command for the shell.
        start_ns: its start time.
    """

    host: str
    text: str
    start_ns: int


@dataclass(frozen=True)
class Programs:
    """The programs of a run.

    Attributes:
        commands: commands in the given order.
        group: the group of flows that they replace; None for the one named ``programs``, or the
            only one.
        folders: keyed by host: the folder in which its programs start; a private one by default.
        see: folders and files of the machine that programs may read, in addition to the system's.
        environment: variables of their environment.
        may_be_stopped: whether the end of the run may stop commands behind the link.
    """

    commands: tuple[Command, ...]
    group: str | None = None
    folders: tuple[tuple[str, Path], ...] = ()
    see: tuple[Path, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    may_be_stopped: bool = False

    @property
    def hosts(self) -> list[str]:
        """The hosts of the commands, in the order of first use."""
        return list(dict.fromkeys(command.host for command in self.commands))

    def seen(self) -> list[str]:
        """Files that the commands may read in addition to those of every guest."""
        java = sorted(Path("/etc").glob("java-*-openjdk"))
        return list(dict.fromkeys([*_SYSTEM, *map(str, java), *map(str, self.visible)]))

    @property
    def visible(self) -> list[Path]:
        """Files that the user lets the commands read."""
        return [*(folder for _, folder in self.folders), *self.see]

    def link(self, scenario: _core.Scenario) -> str:
        """The link from servers to clients.

        Raises:
            InputError: as `to_json`.
        """
        return str(self._group_of(scenario)["path"][0])

    def _group_of(self, scenario: _core.Scenario) -> dict[str, Any]:
        groups = json.loads(scenario.resolved_json())["flows"]
        by_name: dict[str, dict[str, Any]] = {group["name"]: group for group in groups}
        names = ", ".join(by_name)
        if self.group is not None and self.group not in by_name:
            raise InputError(f"--replace {self.group}: no flows have this name; known: {names}")
        if self.group is None and GROUP not in by_name and len(groups) > 1:
            raise InputError(
                f"--replace: programs take the place of one group of flows; name one of {names}"
            )
        chosen = self.group or (GROUP if GROUP in by_name else next(iter(by_name)))
        return by_name[chosen]

    def to_json(self, scenario: _core.Scenario) -> str:
        """The request in the form that the compiled core reads.

        Raises:
            InputError: the scenario has several groups of flows and none is named, or the named one
                does not exist.
        """
        hosts, folders = self.hosts, dict(self.folders)
        wish = {
            "group": self._group_of(scenario)["name"],
            "hosts": [
                {
                    "name": host,
                    "side": _side(host),
                    "folder": str(folders[host]) if host in folders else None,
                }
                for host in hosts
            ],
            "commands": [
                {"host": hosts.index(c.host), "text": c.text, "start_ns": c.start_ns}
                for c in self.commands
            ],
            "visible": self.seen(),
            "environment": [list(pair) for pair in self.environment],
            "folder_bytes": FOLDER_BYTES,
            "most_processes": _MOST_PROCESSES,
            "may_be_stopped": self.may_be_stopped,
        }
        return json.dumps(wish)


# Programs, libraries, and settings that contain no personal data.
_SYSTEM = ("/usr", "/etc/alternatives", "/etc/ssl", "/etc/ca-certificates", "/etc/mime.types",
           "/etc/services", "/etc/protocols", "/etc/ld.so.cache", "/etc/ld.so.preload",
           "/etc/iproute2", "/etc/fonts", "/etc/mono", "/etc/perl", "/etc/php", "/etc/R",
           "/opt")  # fmt: skip


def gather(
    commands: Commands, *, group: str | None = None,
    folders: Mapping[str, str | Path] | None = None, see: Sequence[str | Path] = (),
    environment: Mapping[str, str] | None = None, may_be_stopped: bool = False,
) -> Programs:  # fmt: skip
    """The programs that a user asks for.

    Args:
        commands: keyed by host, such as ``server`` or ``client-2``, or by host and start
            (``client@2s``), a command of the shell, or several.
        group: the group of flows that they replace.
        folders: keyed by host: the folder in which its programs start, which they can only read.
        see: folders and files of the machine that they may read, in addition to the system's.
        environment: variables of their environment.
        may_be_stopped: whether the end of the run may stop commands behind the link.

    Raises:
        InputError: a host, a start, a folder or a variable is invalid.
    """
    listed = [
        _command(name, text)
        for name, texts in commands.items()
        for text in ([texts] if isinstance(texts, str) else texts)
    ]
    hosts = {command.host for command in listed}
    if not any(_side(host) == "client" for host in hosts):
        raise InputError("--client: name a command behind the link, such as 'curl http://server/'")
    chosen = {host: _visible(f"--folder {host}", path) for host, path in (folders or {}).items()}
    for host, folder in chosen.items():
        if host not in hosts:
            raise InputError(f"--folder {host}: has no command; hosts are {', '.join(hosts)}")
        if not folder.is_dir():
            raise InputError(f"--folder {host}={folder}: is not a folder")
    for name, value in (environment or {}).items():
        if _VARIABLE.fullmatch(name) is None or "\0" in value:
            raise InputError(f"--env {name}: is not the name of a variable; write --env NAME=VALUE")
        _check_utf8(f"--env {name}", value)
    return Programs(
        tuple(listed),
        group,
        tuple(chosen.items()),
        tuple(_visible("--see", path) for path in see),
        tuple((environment or {}).items()),
        may_be_stopped,
    )


def _command(name: str, text: Any) -> Command:
    host, at, start = name.partition("@")
    if _HOST.fullmatch(host) is None or len(host) > _MOST_NAME:
        raise InputError(
            f"--at {name}: a host is in front of the link (server, server-2, ...) or behind it "
            "(client, client-alice, ...), in lower case"
        )
    usual_ns = _CLIENTS_START_NS if _side(host) == "client" else 0
    return Command(host, _text(name, text), _start_ns(name, start) if at else usual_ns)


def _start_ns(name: str, start: str) -> int:
    found = quantity(start)
    if found is None or found.unit not in ("s", "ms", "us", "ns") or found.number < 0:
        raise InputError(f"--at {name}: `{start}` is not a time; write one such as client@2s")
    ns = round(found.size * 1e9)
    if ns > _LATEST_NS:
        raise InputError(f"--at {name}: `{start}` is later than any run ends")
    return ns


def _text(name: str, text: Any) -> str:
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise InputError(f"--at {name}: needs a command of the shell, such as 'iperf3 -s'")
    _check_utf8(f"--at {name}", text)
    return text


def _check_utf8(what: str, text: str) -> None:
    """Refuse bytes of the command line that are not UTF-8, which Python keeps as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        shown = text.encode(errors="backslashreplace").decode()
        raise InputError(
            f"{what}: `{shown}` is not UTF-8, from character {error.start + 1}"
        ) from None


def _side(host: str) -> str:
    return next(side for side in SIDES if host.startswith(side))


def _visible(what: str, path: str | Path) -> Path:
    found = Path(path).expanduser()
    _check_utf8(what, str(path))
    if not found.exists():
        raise InputError(f"{what}: {path}: is not there")
    return found.resolve()
