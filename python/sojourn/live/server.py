"""A server of the page's files for this machine alone."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LOOPBACK = "127.0.0.1"


class _Files(SimpleHTTPRequestHandler):
    """The files of one folder, without a line per request."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        pass

    def list_directory(self, path: Any) -> None:
        """Folders are not listed."""
        self.send_error(404)

    def end_headers(self) -> None:
        # Another version on the same port must not meet this one's files.
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of a folder's files on the loopback interface.

    Args:
        folder: whose files are served.
        port: zero takes any that is free; `server_port` of the result says which.

    Raises:
        OSError: the port is taken.
    """
    return ThreadingHTTPServer((LOOPBACK, port), partial(_Files, directory=str(folder)))
