"""Ctrl-C and SIGTERM end a command, wherever in Python they arrive."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

_AGAIN_S = 0.01


class Interrupts:
    """What is known of the signals of one command.

    Attributes:
        heard: whether one has arrived.
    """

    def __init__(self) -> None:
        self.heard = False
        self._again: threading.Timer | None = None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Both signals raise KeyboardInterrupt in this block: nothing half-written stays.

        Python drops an exception that is raised while it destroys an object or in a callback of
        one, and prints it with its traceback. Here it is raised again a moment later instead.
        """
        if threading.current_thread() is not threading.main_thread():
            yield  # Python takes signals in the main thread only.
            return
        # A shell has jobs in the background ignore Ctrl-C, and who embeds Python may have handlers
        # of its own.
        before = {
            number: handler
            for number in (signal.SIGINT, signal.SIGTERM)
            if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
        }
        self._unraisable, sys.unraisablehook = sys.unraisablehook, self._dropped
        try:
            for number in before:
                signal.signal(number, self._interrupt)
            yield
        finally:
            if self._again is not None:
                self._again.cancel()  # the command has ended meanwhile
            sys.unraisablehook = self._unraisable
            for number, handler in before.items():
                signal.signal(number, handler)

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        self.heard = True
        raise KeyboardInterrupt

    def _dropped(self, dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # A signal to the thread itself: it may wait in a system call.
            main = threading.main_thread().ident
            self._again = threading.Timer(_AGAIN_S, signal.pthread_kill, (main, signal.SIGINT))
            self._again.daemon = True
            self._again.start()
        else:
            self._unraisable(dropped)
