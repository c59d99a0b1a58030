"""The data of runs that figures read, as arrays, which can be sent to another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Union
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.running.result import Result
    from sojourn.running.series import SummaryRow

Floats = NDArray[np.float64]
Histograms = dict[tuple[str, str, str], Floats]
"""By scope, name and metric: lower edges in ns, upper edges and counts, shape ``(3, n)``."""
Series = dict[str, tuple[Floats, Floats]]
"""By variable: seconds and values, each of shape ``(n_samples,)``."""


@dataclass(frozen=True)
class Excerpt:
    """The data of a run that figures read, without the tables themselves.

    Attributes:
        summary_rows: table ``summary``.
        histograms: table ``histograms``.
        queue: the queue of `series`; None if they were left out.
        series: of table ``states``.
    """

    summary_rows: list[SummaryRow]
    histograms: Histograms
    queue: str | None
    series: Series

    @cached_property
    def summary(self) -> Mapping[str, float]:
        """The same as of a result."""
        return {"/".join(filter(None, row[:3])): row[3] for row in self.summary_rows}

    def series_of(self, queue: str) -> Series:
        """The series of a queue."""
        assert queue == self.queue, "an excerpt of an AQM's first run has those of the link"
        return self.series


Run = Union["Result", Excerpt]
Results = Mapping[str, Sequence[Run]]


def excerpt(result: Result, queue: str | None) -> Excerpt:
    """Extract what figures read of a run.

    Args:
        result: of the run.
        queue: the queue whose series are extracted; None for none.
    """
    found = states(result, queue) if queue is not None else {}
    return Excerpt(result.summary_rows, histograms(result), queue, found)


_read: WeakKeyDictionary[Result, Histograms] = WeakKeyDictionary()


def histograms(run: Run) -> Histograms:
    """Table ``histograms`` in arrays.

    It is read once per run, because filtering for each distribution takes five times as long.
    """
    if isinstance(run, Excerpt):
        return run.histograms
    if run not in _read:
        table = run.histograms
        numbers = np.array([table[name] for name in ("lower_ns", "upper_ns", "count")], np.float64)
        columns = [_encoded(table[name]) for name in ("scope", "name", "metric")]
        codes = np.array([column.indices for column in columns])
        words = [column.dictionary.to_pylist() for column in columns]
        # The bins of a distribution are adjacent rows.
        begins = np.flatnonzero(np.any(np.diff(codes, prepend=-1) != 0, axis=0))
        parts = np.split(numbers, begins[1:], axis=1)
        keys = [tuple(map(list.__getitem__, words, codes[:, place])) for place in begins]
        _read[run] = dict(zip(keys, parts, strict=True)) if keys else {}
        assert len(_read[run]) == len(keys)
    return _read[run]


def states(result: Result, queue: str) -> Series:
    """The variables of a queue over time, from table ``states``."""
    import pyarrow.compute as pc

    table = result.states
    rows = table.filter(pc.equal(table["queue"].cast("string"), queue))
    column = _encoded(rows["var"])
    codes = np.asarray(column.indices)
    t_s, values = np.asarray(rows["t_ns"], np.float64) * 1e-9, np.asarray(rows["value"], np.float64)
    of_each = ((word, codes == code) for code, word in enumerate(column.dictionary.to_pylist()))
    return {word: (t_s[of_it], values[of_it]) for word, of_it in of_each if of_it.any()}


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of texts as codes and dictionary, in whatever encoding."""
    import pyarrow as pa

    whole = column.combine_chunks()
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
