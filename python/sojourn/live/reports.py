"""The reports of a running router for a page on this machine, by a WebSocket with a token.

Starlette and uvicorn (the extra ``live``) are well maintained and have the WebSocket that the
standard library lacks.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import threading
from collections import deque
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from sojourn.errors import InputError
from sojourn.live.server import LOOPBACK

# Ten minutes of two reports per second, for a page that is opened later.
_KEPT = 1200
# The status code of a WebSocket for a message that a server's policy forbids.
_REFUSED = 1008


class ReportServer:
    """Serves a folder's files, and reports to whoever has the token, on the loopback interface.

    Args:
        folder: its files are served; ``router.html`` is the page.
        port: 0 selects a free one.

    Raises:
        InputError: starlette or uvicorn is not installed, or the port is taken.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        try:
            self._uvicorn = import_module("uvicorn")
            import_module("starlette.applications")
            import_module("websockets")
        except ImportError:
            raise InputError(
                "--live needs starlette and uvicorn: pip install 'sojourn[live]'"
            ) from None
        self.token = secrets.token_urlsafe(24)
        self._kept: deque[str] = deque(maxlen=_KEPT)
        self._queues: set[asyncio.Queue[str]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_loop = threading.Event()
        self._listener = _bound(port)
        self.port: int = self._listener.getsockname()[1]
        config = self._uvicorn.Config(
            self._application(folder), log_level="error", lifespan="off", ws="websockets-sansio"
        )
        self._server = self._uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        """The page, with the token after ``#``, which browsers do not send to servers."""
        return f"http://{LOOPBACK}:{self.port}/router.html#{self.token}"

    def __enter__(self) -> ReportServer:
        self._thread.start()
        self._has_loop.wait()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(timeout=5)
        self._listener.close()

    def publish(self, report: dict[str, Any]) -> None:
        """Send a report to every open page, and keep it for pages that are opened later."""
        text = json.dumps(report)
        assert self._loop is not None, "it is entered before something is published"
        self._loop.call_soon_threadsafe(self._send, text)

    def _send(self, text: str) -> None:
        self._kept.append(text)
        for queue in self._queues:
            queue.put_nowait(text)

    def _serve(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._has_loop.set()
            await self._server.serve(sockets=[self._listener])

        asyncio.run(serve())

    def _application(self, folder: Path) -> Any:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.routing import Mount, WebSocketRoute
        from starlette.staticfiles import StaticFiles

        # Host names of other sites that resolve to this machine are refused.
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[LOOPBACK])
        routes = [
            WebSocketRoute("/reports", self._reports),
            Mount("/", StaticFiles(directory=folder)),
        ]
        return Starlette(routes=routes, middleware=[hosts])

    async def _reports(self, page: Any) -> None:
        """The first message of a page is the token; a page of another origin is refused."""
        origin = page.headers.get("origin", "")
        if origin not in ("", f"http://{LOOPBACK}:{self.port}"):
            await page.close(_REFUSED)
            return
        await page.accept()
        queue: asyncio.Queue[str] = asyncio.Queue()
        try:
            if not secrets.compare_digest(
                (await page.receive_text()).encode(), self.token.encode()
            ):
                await page.close(_REFUSED)
                return
            for text in self._kept:
                queue.put_nowait(text)
            self._queues.add(queue)
            while True:
                await page.send_text(await queue.get())
        except (import_module("starlette.websockets").WebSocketDisconnect, RuntimeError):
            pass  # the page was closed
        except asyncio.CancelledError:
            pass  # the router ends
        finally:
            self._queues.discard(queue)


def _bound(port: int) -> socket.socket:
    bound = socket.socket()
    try:
        bound.bind((LOOPBACK, port))
        bound.listen()
    except OSError as error:
        bound.close()
        raise InputError(f"--live-port {port}: {error.strerror}; leave it out") from error
    return bound
