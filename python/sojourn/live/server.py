"""A server of the page's files for this machine only."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LOOPBACK = "127.0.0.1"


class _Files(SimpleHTTPRequestHandler):
    """The files of one folder, without a log line per request."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        pass

    def list_directory(self, path: Any) -> None:
        """Folders are not listed."""
        self.send_error(404)

    def parse_request(self) -> bool:
        """Refuses requests under another name than this machine's own, and those of other pages.

        A page elsewhere whose host name resolves to the loopback address (DNS rebinding) could
        read the files otherwise. A request with several host names is refused.
        """
        if not super().parse_request():
            return False
        hosts, origins = (self.headers.get_all(name, []) for name in ("Host", "Origin"))
        assert isinstance(self.server, ThreadingHTTPServer)
        port = self.server.server_port
        own = [f"{name}:{port}" for name in (LOOPBACK, "localhost")]
        if len(hosts) != 1 or hosts[0].lower() not in own:
            self.send_error(421, "Misdirected Request", "This server answers to 127.0.0.1 only")
            return False
        if any(origin.lower() not in (f"http://{name}" for name in own) for origin in origins):
            self.send_error(403, "Forbidden", "This server answers to its own pages only")
            return False
        return True

    def end_headers(self) -> None:
        # Another version of the page on the same port must not use cached files of this version.
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of a folder's files on the loopback interface.

    Args:
        folder: its files are served.
        port: 0 selects a free one, which is `server_port` of the result.

    Raises:
        OSError: the port is taken.
    """
    return ThreadingHTTPServer((LOOPBACK, port), partial(_Files, directory=str(folder)))
