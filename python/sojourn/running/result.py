"""The results of one run: tables, summary, manifest; in memory or read back from a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sojourn import _core
from sojourn.errors import InputError, named
from sojourn.files import FILES, unsealed
from sojourn.running.labels import Labels
from sojourn.running.series import Numbers, SummaryRow, series
from sojourn.tabular import TabularByName, arrow

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (
    "packets", "signals", "flows", "states", "flow_states", "bins", "transfers", "streams",
    "programs", "program_flows", "summary", "histograms", "drop_delays",
)  # fmt: skip
MANIFEST = "manifest.json"
SUMMARY = "summary.json"
"""A second copy of table ``summary`` in the store of runs: loading Parquet takes 0.1 s."""


class RunLike(Protocol):
    """The source of a result: a run of the compiled core, or a folder."""

    @property
    def digest(self) -> str: ...  # noqa: D102
    @property
    def warnings(self) -> list[str]: ...  # noqa: D102
    def table(self, name: str) -> Any: ...  # noqa: D102
    def summary(self) -> Sequence[SummaryRow]: ...  # noqa: D102
    def manifest_json(self) -> str: ...  # noqa: D102
    def write(  # noqa: D102
        self, folder: str, cancel: _core.Cancel | None = None
    ) -> list[str]: ...


class Result(TabularByName):
    """The results of one run.

    Tables are Arrow tables with the columns that docs call by table name; a table that was not
    recorded has no rows. Times in columns ending in ``_ns`` are nanoseconds since the start.

    Args:
        run: the run to read.
        labels: columns that saved tables have in addition to their own; see
            `sojourn.running.labels`.
        cancel: cancels `save` too.
    """

    main_table = "summary"

    def __init__(
        self, run: RunLike, labels: Labels | None = None, cancel: _core.Cancel | None = None
    ) -> None:
        self._run = run
        self._labels = labels or {}
        self._cancel = cancel

    @classmethod
    def open(cls, folder: str | Path) -> Result:
        """Read back what `save` wrote.

        Raises:
            InputError: the folder has no manifest, so it holds no complete result; or a file of it
                is damaged.
        """
        return cls(_in_folder(named(folder, "folder")))

    @property
    def digest(self) -> str:
        """Fingerprint of the event stream: same scenario, seed and version, same digest."""
        return self._run.digest

    @property
    def warnings(self) -> list[str]:
        """Probable mistakes in a legal scenario, one sentence each."""
        return self._run.warnings

    @property
    def invalid(self) -> list[str]:
        """Why the run is not a valid experiment, one sentence each; empty if it is."""
        return list(self.manifest.get("invalid", []))

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Resolved scenario, seed, engine, versions, wall time, digest, warnings."""
        manifest: dict[str, Any] = json.loads(self._run.manifest_json())
        return manifest

    @cached_property
    def summary_rows(self) -> list[SummaryRow]:
        """The summary as rows of (scope, name, metric, value, unit)."""
        return list(self._run.summary())

    @cached_property
    def summary(self) -> Mapping[str, float]:
        """Every number of the run in its SI unit by ``scope/name/metric``.

        For example ``result.summary["queue/bottleneck/delay_p95"]`` in seconds.

        Raises:
            KeyError: on reading a key that does not exist; the text has the nearest ones.
        """
        return Numbers({"/".join(filter(None, row[:3])): row[3] for row in self.summary_rows})

    def table(self, name: str) -> pa.Table:
        """One of the tables in `TABLES` as an Arrow table.

        Raises:
            KeyError: the table does not exist.
            ImportError: pyarrow is not installed.
        """
        return arrow().table(self._run.table(name))

    def _content(self, name: str) -> Any:
        return self._run.table(name)

    def columns(self, name: str, first: int = 0, count: int | None = None) -> dict[str, list[Any]]:
        """One of the tables in `TABLES` as lists, by column; needs no Arrow library.

        Args:
            name: name of the table.
            first: the first row.
            count: how many rows at most.

        Raises:
            KeyError: the table is unknown.
        """
        found: dict[str, list[Any]] = self._run.table(name).columns(first, count)
        return found

    def rows(self, name: str, first: int = 0, count: int | None = None) -> list[dict[str, Any]]:
        """The same table as one mapping per row, from column to value."""
        columns = self.columns(name, first, count)
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @cached_property
    def packets(self) -> pa.Table:
        """One packet at one queue; only recorded with ``record.packets``."""
        return self.table("packets")

    @cached_property
    def signals(self) -> pa.Table:
        """One drop or mark, with the AQM's state just before; only with ``record.signals``."""
        return self.table("signals")

    def signals_with(self, *variables: str) -> pa.Table:
        """`signals` with state variables as columns instead of the map ``state``.

        Args:
            variables: names of state variables, such as ``drop_prob`` (`sojourn explain pie` lists
                them); null if the AQM of that queue has none of that name.
        """
        pa, table = arrow(), self.signals
        import pyarrow.compute as pc

        for name in variables:
            column = pc.map_lookup(table["state"], pa.scalar(name), "first")
            table = table.append_column(name, column)
        return table.drop_columns("state")

    @cached_property
    def flows(self) -> pa.Table:
        """One flow at one sample; only recorded with ``record.flows``."""
        return self.table("flows")

    @cached_property
    def states(self) -> pa.Table:
        """One variable of one queue at one sample; only recorded with ``record.states``."""
        return self.table("states")

    @cached_property
    def flow_states(self) -> pa.Table:
        """One variable of one congestion control at one sample; only with ``record.flows``."""
        return self.table("flow_states")

    @cached_property
    def bins(self) -> pa.Table:
        """One value of one bin of time; only recorded with ``record.bins``.

        Metrics are ``goodput`` of flows and classes, and ``throughput``, ``utilisation``,
        ``drop_rate`` and ``mark_rate`` of queues.
        """
        return self.table("bins")

    def series(
        self, scope: str, name: str, metric: str, *, bins: int = 1
    ) -> tuple[list[float], list[float]]:
        """One series of table `bins`.

        Args:
            scope: ``flow``, ``class`` or ``queue``.
            name: name of that flow, class or queue.
            metric: such as ``goodput``.
            bins: number of recorded bins that are averaged into one: 5 turns bins of 1 s into bins
                of 5 s. Rates of drops and marks are relative to packets and cannot be averaged.

        Returns:
            When each bin began in seconds, and the values. An incomplete last bin is left out.

        Raises:
            InputError: the series does not exist, or cannot be averaged over bins.
        """
        return series(self.rows("bins"), scope, name, metric, bins=bins)

    @cached_property
    def transfers(self) -> pa.Table:
        """One finished short transfer."""
        return self.table("transfers")

    @cached_property
    def programs(self) -> pa.Table:
        """One command of the user; see `sojourn.programs`."""
        return self.table("programs")

    @cached_property
    def program_flows(self) -> pa.Table:
        """One flow of programs of the user: five-tuple, times, bytes delivered either way."""
        return self.table("program_flows")

    @cached_property
    def histograms(self) -> pa.Table:
        """Distributions of delays: edges of the bin in nanoseconds, count.

        The delays of queues do not include dropped packets; see `drop_delays`.
        """
        return self.table("histograms")

    @cached_property
    def drop_delays(self) -> pa.Table:
        """Waiting times of dropped packets: queue, stage, cause, edges of the bin, count."""
        return self.table("drop_delays")

    def save(self, folder: str | Path) -> list[str]:
        """Write the tables as Parquet and the manifest; returns the names of the files.

        Every table has columns that identify the run: scenario, digest of the scenario, engine,
        AQM, dialect, seed, and each key that was set. Every file is renamed into place when
        complete, the manifest last. Files of an earlier run in the folder are replaced, other files
        stay.

        Raises:
            InputError: the folder's name is empty.
            OSError: the folder cannot be written, or the disk is full.
            Cancelled: its series of runs was interrupted meanwhile.
        """
        from sojourn.running.saving import save

        tables = ((name, self._run.table(name)) for name in TABLES)
        return save(named(folder, "folder"), self.manifest, tables, self._labels, self._cancel)

    def __repr__(self) -> str:
        """Name, seed and digest."""
        facts = self.manifest
        return f"<sojourn result {facts['name']}, seed {facts['seed']}, digest {self.digest}>"

    def _repr_html_(self) -> str:
        import html

        from sojourn.describing.formatting import show_value

        rows = "".join(
            f"<tr><td>{html.escape(f'{scope} {name}')}</td><td>{html.escape(metric)}</td>"
            f"<td style='text-align:right'>{show_value(metric, value, unit)}</td></tr>"
            for scope, name, metric, value, unit in self.summary_rows
        )
        caption = html.escape(repr(self).strip("<>"))
        return f"<table><caption>{caption}</caption>{rows}</table>"


class StoredTables:
    """A result read back, with the interface of a run of the core.

    Args:
        files: content by file name: the manifest and the tables that have rows.
        where: its place, for messages.
        damaged: called when a file turns out to be damaged.

    Raises:
        KeyError: the manifest is missing.
        ValueError: the manifest is damaged, or its content or that of the summary is invalid.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        where: str,
        damaged: Callable[[], None] = lambda: None,
    ) -> None:
        self._files = files
        self._where = where
        self._damaged = damaged
        self._facts = unsealed(self._files[MANIFEST].decode())
        digests = self._facts.pop(FILES, None)
        if not isinstance(digests, dict) or not _is_manifest(self._facts):
            raise ValueError("its content is not that of a manifest")
        self._digests: dict[str, str] = digests
        self._summary = _summary_of(files) if SUMMARY in files else None

    @property
    def digest(self) -> str:  # noqa: D102
        return str(self._facts["digest"])

    @property
    def warnings(self) -> list[str]:  # noqa: D102
        return list(self._facts["warnings"])

    def table(self, name: str) -> _core.Table:  # noqa: D102
        empty = _core.Table.empty(name)
        file = f"{name}.parquet"
        if file not in self._digests:
            return empty
        content = self._files.get(file)
        if content is None:
            raise self._refusal(f"{file} is missing")
        if hashlib.sha256(content).hexdigest() != self._digests[file]:
            raise self._refusal(f"{file} is damaged")
        try:
            return _core.Table.stored(name, content)
        except ValueError as error:
            raise self._refusal(f"{file} is damaged") from error

    def _refusal(self, why: str) -> InputError:
        self._damaged()
        return InputError(f"{self._where}: {why}; run it again")

    def summary(self) -> list[SummaryRow]:  # noqa: D102
        if self._summary is not None:
            return self._summary
        return list(zip(*self.table("summary").columns().values(), strict=True))

    def manifest_json(self) -> str:  # noqa: D102
        return json.dumps(self._facts, ensure_ascii=False)

    def write(self, folder: str, cancel: _core.Cancel | None = None) -> list[str]:  # noqa: D102
        for name, content in self._files.items():
            (Path(folder) / name).write_bytes(content)
        return list(self._files)


def _is_manifest(facts: Mapping[str, Any]) -> bool:
    """Whether a manifest has the keys that its readers need."""
    kinds: dict[str, type] = {"digest": str, "warnings": list, "name": str, "seed": int}
    return all(isinstance(facts.get(key), kind) for key, kind in kinds.items())


def _summary_of(files: Mapping[str, bytes]) -> list[SummaryRow]:
    """The rows of a summary in JSON.

    Raises:
        ValueError: it is not such a text.
    """
    rows = json.loads(files[SUMMARY])
    kinds = (str, str, str, int | float, str)
    for row in rows if isinstance(rows, list) else [()]:
        if not isinstance(row, list) or len(row) != len(kinds):
            raise ValueError("its summary is none")
        if not all(map(isinstance, row, kinds)):
            raise ValueError("its summary has a value of another type")
    return [tuple(row) for row in rows]


class _Files(Mapping[str, bytes]):
    """The files of a folder, read when they are needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in sorted(self._folder.iterdir()))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _in_folder(folder: Path) -> StoredTables:
    try:
        return StoredTables(_Files(folder), str(folder))
    except KeyError:
        raise InputError(f"{folder}: lacks {MANIFEST}, so it is not a complete result") from None
    except ValueError as error:
        raise InputError(
            f"{folder}: {MANIFEST} is damaged, or of an earlier version; run it again"
        ) from error
