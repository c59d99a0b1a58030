"""Ctrl-C and SIGTERM end a command, wherever in Python they arrive."""

from __future__ import annotations

import _thread
import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from sojourn import ending, platforms
from sojourn.errors import Interrupted

INTERRUPTED = 130
_AGAIN_S = 0.01
# The time in which a command may end by itself and report the runs that are kept. A large process
# has less time, because the system frees its memory (2 GB in 0.15 s) before the process has ended.
_PATIENCE_S, _LEAST_PATIENCE_S = 0.1, 0.02
_RELEASED_BYTES_PER_S = 15e9


def words(error: BaseException | None) -> str:
    """The message to the user.

    Args:
        error: an `Interrupted`, whose text names the finished runs; other errors add nothing.
    """
    if not isinstance(error, Interrupted):
        return "sojourn: interrupted"
    lines = [f"sojourn: {error}", *(f"  finished: {label}" for label in error.finished)]
    if error.finished:
        lines.append("sojourn: these are kept; the same command resumes from there")
    return "\n".join(lines)


def _patience_s() -> float:
    resident = 0
    with contextlib.suppress(OSError):  # Linux alone has it
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        resident = pages * os.sysconf("SC_PAGE_SIZE")
    release_s = resident / _RELEASED_BYTES_PER_S
    return max(_LEAST_PATIENCE_S, _PATIENCE_S - release_s)


class Interrupts:
    """The state of signal handling of one command.

    Attributes:
        heard: whether a signal has arrived.
        is_said: whether the user has seen a message.
    """

    def __init__(self) -> None:
        self.heard = False
        self.is_said = False
        self._number: int = signal.SIGINT  # the last signal's
        self._again: object = None  # of the signal that is to be sent again

    @contextlib.contextmanager
    def listening(self, ends_process: bool) -> Iterator[None]:
        """Both signals raise KeyboardInterrupt in this block, so no half-written file remains.

        Python prints and drops an exception raised in a destructor or its callback, or in the hook
        that prints it. This class raises it again shortly afterwards.

        Args:
            ends_process: whether this process ends shortly after a signal in any case, even in the
                middle of a computation.
        """
        if threading.current_thread() is not threading.main_thread():
            yield  # Python handles signals in the main thread only.
            return
        # A shell makes background jobs ignore Ctrl-C, and a program that embeds Python may have its
        # own handlers.
        before = {
            number: handler
            for number in (signal.SIGINT, signal.SIGTERM)
            if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
        }
        self._unraisable, sys.unraisablehook = sys.unraisablehook, self._dropped
        try:
            if ends_process:
                self._watch(set(before))
            for number in before:
                signal.signal(number, self._interrupt)
            yield
        finally:
            self._again = None  # the command has ended meanwhile
            sys.unraisablehook = self._unraisable
            # A second signal would give a second message or another exit code: `timeout` sends its
            # signal to the process and to the process's group.
            is_ending = ends_process and self.heard
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if is_ending else handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.heard, self._number = True, number
        while frame is not None:
            if frame.f_code is Interrupts._dropped.__code__:
                self._raise_later()
                return
            frame = frame.f_back
        self._again = None
        raise KeyboardInterrupt

    def _dropped(self, dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            self._raise_later()
        else:
            self._unraisable(dropped)

    def _raise_later(self) -> None:
        # `threading` has locks that the interrupted code may hold.
        self._again = again = object()
        _thread.start_new_thread(self._raise_again, (again,))

    def _raise_again(self, again: object) -> None:
        # More than once: a signal that arrives just before a system call does not end the call.
        while True:
            time.sleep(_AGAIN_S)
            if self._again is not again:
                return
            _signal_main_thread(self._number)

    def _watch(self, numbers: set[int]) -> None:
        """Start a thread that ends the process if the main thread does not react to a signal.

        It stays until the process ends.
        """
        threading.Thread(target=self._end_after, args=(_wakeups(), numbers), daemon=True).start()

    def _end_after(self, wakeup: Callable[[], bytes], numbers: set[int]) -> None:
        while number := wakeup():
            if number[0] not in numbers or ending.is_orderly():
                continue
            time.sleep(_patience_s())
            if not self.is_said and _can_say():
                with contextlib.suppress(OSError):
                    os.write(2, f"{words(ending.reason())}\n".encode(errors="replace"))
            ending.end(INTERRUPTED)


def _signal_main_thread(number: int) -> None:
    if platforms.IS_WINDOWS:
        _thread.interrupt_main(signal.Signals(number))
        return
    # A signal to the thread itself, which may be blocked in a system call.
    main = threading.main_thread().ident
    signal.pthread_kill(main, number)  # type: ignore[arg-type]


def _wakeups() -> Callable[[], bytes]:
    """A function that waits for a signal to arrive, and returns its number as a byte."""
    if platforms.IS_WINDOWS:  # where the interpreter writes only to sockets
        import socket

        listening, waking = socket.socketpair()
        waking.setblocking(False)
        signal.set_wakeup_fd(waking.detach(), warn_on_full_buffer=False)
        return lambda: listening.recv(1)
    heard, arrived = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(arrived, False)
    signal.set_wakeup_fd(arrived, warn_on_full_buffer=False)
    return lambda: os.read(heard, 1)


def _can_say() -> bool:
    """Whether a line to standard error does not block; True on Windows, which cannot tell."""
    return platforms.IS_WINDOWS or bool(select.select([], [2], [], 0)[1])
