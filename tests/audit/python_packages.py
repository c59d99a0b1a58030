"""The installed Python packages against a folder of advisories, without a network.

    python tests/audit/python_packages.py PIP_AUDIT DB

PIP_AUDIT is the command pip-audit; DB is a folder tree of advisories as JSON in OSV's form, such as
OSV's unpacked archive for PyPI. Exceptions are the lines of exceptions.txt in this folder, each an
identifier and the reason why it does not concern us. pip-audit queries OSV's API; here a local
server answers from the folder."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

EXCEPTIONS = Path(__file__).with_name("exceptions.txt")


def advisories(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The advisories by package name.

    Raises:
        ValueError: a file is not an advisory, or no file was found.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.rglob("*.json")):
        advisory = json.loads(path.read_text())
        for name in {canonicalize_name(each["package"]["name"]) for each in advisory["affected"]}:
            found.setdefault(name, []).append(advisory)
    if not found:
        raise ValueError(f"{folder}: has no advisories in JSON; unpack OSV's archive of PyPI there")
    return found


def concerns(advisory: Mapping[str, Any], name: str, version: str) -> bool:
    """Whether a version is affected (OSV schema 1.7, evaluation of `versions` and `ranges`)."""
    return any(
        canonicalize_name(each["package"]["name"]) == name
        and (version in each.get("versions", ()) or any(map(_within(version), _ranges(each))))
        for each in advisory["affected"]
        if "withdrawn" not in advisory
    )


def _ranges(affected: Mapping[str, Any]) -> Iterator[list[dict[str, str]]]:
    for each in affected.get("ranges", ()):
        if each["type"] == "ECOSYSTEM":
            yield each["events"]


def _within(version: str) -> Callable[[list[dict[str, str]]], bool]:
    here = Version(version)

    def inside(events: list[dict[str, str]]) -> bool:
        is_in = False
        for event in events:
            ((what, bound),) = event.items()
            if what == "introduced" and (bound == "0" or here >= Version(bound)):
                is_in = True
            elif (what == "fixed" and here >= Version(bound)) or (
                what == "last_affected" and here > Version(bound)
            ):
                is_in = False
        return is_in

    return inside


def handler(known: Mapping[str, list[dict[str, Any]]]) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the library names it
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name, version = canonicalize_name(asked["package"]["name"]), asked["version"]
            hits = [one for one in known.get(name, ()) if concerns(one, name, version)]
            answer = json.dumps({"vulns": hits} if hits else {}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments: object) -> None: ...

    return Handler


def main(pip_audit: str, folder: str) -> int:
    known = advisories(Path(folder))
    lines = EXCEPTIONS.read_text().splitlines()
    ignored = [line.split()[0] for line in lines if line and not line.startswith("#")]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(known)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1/query"
        site = next(path for path in map(Path, sys.path) if path.name == "site-packages")
        command = [pip_audit, "--vulnerability-service", "osv", "--osv-url", url, "--path", site]
        words = [word for name in ignored for word in ("--ignore-vuln", name)]
        done = subprocess.run([*command, "--skip-editable", *words], check=False)
        server.shutdown()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
