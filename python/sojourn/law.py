"""AQM laws written in Python, for experiments; docs/how-to/own-aqm.md says how to write one.

A law is a class with the hooks of a law in Rust (`Aqm` in crates/aqm/src/law.rs)::

    from sojourn import law

    class Proportional:
        '''Drops arrivals with a probability proportional to the delay above its target.'''

        target = law.time("5ms", "Queue delay that is not signalled", source="chosen")
        gain = law.frequency("10hz", "Drop probability per second of delay", source="chosen")
        drop_prob = law.var("1", "Probability of a drop")

        def on_enqueue(self, now_ns, head, queue, random):
            if random.uniform() < self.drop_prob:
                return law.Verdict.signal(head.can_mark, law.RANDOM)

        def on_dequeue(self, now_ns, head, queue, random):
            self.drop_prob = min(1.0, max(0, head.sojourn_ns - self.target) * 1e-9 * self.gain)

A scenario never names code: the command line (``--aqm mine.py:Proportional``) and calls such as
``sojourn.compare("traffic-mix", ["pie", Proportional])`` do.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sojourn._core import Backlog, CustomLaw, Env, Head, Random

__all__ = [
    "DETERMINISTIC",
    "RANDOM",
    "Backlog",
    "Cause",
    "CustomLaw",
    "Env",
    "Head",
    "Law",
    "Param",
    "Random",
    "Var",
    "Verdict",
    "flag",
    "frequency",
    "number",
    "rate",
    "size",
    "time",
    "var",
    "whole",
    "word",
]

Rule = Literal["any", "positive", "not negative", "probability", "fraction"]


class Cause(enum.IntEnum):
    """Why a packet is signalled, in the words of the tables."""

    RANDOM = 1
    """A random draw."""
    DETERMINISTIC = 2
    """A deterministic rule, such as CoDel's schedule."""


RANDOM = Cause.RANDOM
DETERMINISTIC = Cause.DETERMINISTIC


class Verdict(enum.IntEnum):
    """The decision about a packet; a hook that returns None lets it pass."""

    PASS = 0
    MARK_RANDOM = 0x11
    MARK_DETERMINISTIC = 0x12
    DROP_RANDOM = 0x21
    DROP_DETERMINISTIC = 0x22

    @staticmethod
    def signal(mark: bool, cause: Cause) -> Verdict:
        """The congestion signal: a mark if `mark`, else a drop.

        Args:
            mark: whether to mark; only where `Head.can_mark` holds.
            cause: why.
        """
        return _SIGNALS[mark, cause]


_SIGNALS = {
    (True, RANDOM): Verdict.MARK_RANDOM,
    (True, DETERMINISTIC): Verdict.MARK_DETERMINISTIC,
    (False, RANDOM): Verdict.DROP_RANDOM,
    (False, DETERMINISTIC): Verdict.DROP_DETERMINISTIC,
}


class Law(Protocol):
    """The interface of a law's class; one object is created per queue, without arguments.

    Parameters are class attributes made by `time`, `frequency`, `number`, `whole`, `size`, `rate`,
    `flag` and `word`; state variables by `var`. In the object a parameter is its value: times are
    integer nanoseconds, rates bit/s, sizes bytes. A state variable is a number that the law sets;
    it starts at zero. Every hook is optional, but a law has `on_enqueue` or `on_dequeue`. Objects
    passed to a hook are valid until it returns. Backlogs do not contain the packet being handled. A
    class attribute ``is_limit_first = False`` lets `on_enqueue` see arrivals for which there is no
    room, as RED's average needs.
    """

    def start(self, env: Env, /) -> None:
        """Called once after ``__init__``, with the properties of the link."""

    def on_enqueue(
        self, now_ns: int, head: Head, queue: Backlog, random: Random, /
    ) -> Verdict | None:
        """A packet arrives."""

    def on_overflow(self, now_ns: int, queue: Backlog, /) -> None:
        """An arrival was dropped because the queue was full."""

    def on_eviction(self, now_ns: int, queue: Backlog, /) -> None:
        """A queued packet was evicted from the head; without this hook `on_overflow` is called."""

    def on_dequeue(
        self, now_ns: int, head: Head, queue: Backlog, random: Random, /
    ) -> Verdict | None:
        """A packet is about to leave; after a drop the next head follows at the same time."""

    def on_empty(self, now_ns: int, /) -> None:
        """The link asked for a packet and the queue was empty."""

    def next_timer(self) -> int | None:
        """When `on_timer` is due, in nanoseconds; always later than its last call.

        This time changes only in `on_timer`, `on_idle_timers` and `on_rate`, so all laws with the
        same parameters have the same times.
        """

    def on_head(self, enqueued_ns: int | None, /) -> None:
        """Called before `on_timer`, with the time when the head packet was accepted, or None."""

    def on_timer(self, now_ns: int, queue: Backlog, /) -> None:
        """The timer of `next_timer` is due."""

    def on_idle_timers(self, now_ns: int, /) -> None:
        """The queue was empty: catch up on all timers due at or before now.

        Without this hook `on_timer` is called for each of them.
        """

    def on_rate(self, now_ns: int, rate_bps: int, /) -> None:
        """The rate of the link has changed."""


HOOKS = (
    "start", "on_enqueue", "on_overflow", "on_eviction", "on_dequeue", "on_empty", "next_timer",
    "on_head", "on_timer", "on_idle_timers", "on_rate",
)  # fmt: skip


@dataclass(frozen=True)
class Param:
    """A parameter of a law.

    Attributes:
        kind: the kind of value, such as ``time``.
        default: its default as text, with its unit.
        doc: its meaning, one line.
        rule: constraint on its value.
        source: the source of the default.
        absent: ``off`` or ``auto`` if that is a value too; the object then has None.
        words: the words, if the kind is ``word``.
    """

    kind: str
    default: str
    doc: str
    rule: str
    source: str
    absent: str | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Var:
    """A state variable of a law: `unit` is ``1`` for pure numbers; `doc` is one line."""

    unit: str
    doc: str


def time(
    default: str, doc: str, *, source: str, rule: Rule = "positive", absent: str | None = None
) -> Any:
    """A time such as ``"5ms"``; the law sees integer nanoseconds."""
    return Param("time", default, doc, rule, source, absent)


def frequency(
    default: str, doc: str, *, source: str, rule: Rule = "positive", absent: str | None = None
) -> Any:
    """A frequency such as ``"0.125hz"``, the gain of a controller; the law sees 1/s."""
    return Param("frequency", default, doc, rule, source, absent)


def number(
    default: str, doc: str, *, source: str, rule: Rule = "any", absent: str | None = None
) -> Any:
    """A pure number such as ``"0.5"``."""
    return Param("number", default, doc, rule, source, absent)


def whole(
    default: str, doc: str, *, source: str, rule: Rule = "any", absent: str | None = None
) -> Any:
    """An integer such as ``"16"``."""
    return Param("whole number", default, doc, rule, source, absent)


def size(
    default: str, doc: str, *, source: str, rule: Rule = "positive", absent: str | None = None
) -> Any:
    """A size such as ``"1514B"``; the law sees bytes."""
    return Param("bytes", default, doc, rule, source, absent)


def rate(
    default: str, doc: str, *, source: str, rule: Rule = "positive", absent: str | None = None
) -> Any:
    """A rate such as ``"10mbit"``; the law sees bit/s."""
    return Param("rate", default, doc, rule, source, absent)


def flag(default: bool, doc: str, *, source: str) -> Any:
    """True or false."""
    return Param("bool", "true" if default else "false", doc, "any", source)


def word(default: str, words: Sequence[str], doc: str, *, source: str) -> Any:
    """One of several words."""
    return Param("word", default, doc, "any", source, words=tuple(words))


def var(unit: str, doc: str) -> Any:
    """A state variable, a column of the table ``states`` and of recorded signals."""
    return Var(unit, doc)
