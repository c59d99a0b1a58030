"""The store of a study: runs by content, as Parquet, each exactly once.

========================  =======================================================================
``runs.parquet``          table ``runs`` of a study that has ended: point, axes, seed by run
``study.json``            the study, the simulator that made the runs, the format of the store
``fragments/*.parquet``   the runs of one batch, as its worker wrote them
``table/*.parquet``       the same, compacted into larger files: no run is in it twice
``failed/RUN.json``       a run that was set aside: its scenario and the reason
``damaged/*``             files whose content does not match their name, or is not of runs
========================  =======================================================================

The name of a Parquet file is the digest of its content, so damage is detected. The columns are
checked too, because a digest does not show that the content was right.

A worker may die after it wrote a fragment and before its client learns of it, so two fragments may
hold the same run. Compaction copies the runs that the table lacks, and then removes the fragments;
whenever it dies, the table has each run once, and nothing is lost. Readers use the table and
the additional runs of fragments.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sojourn import files
from sojourn.errors import InputError
from sojourn.running.store import simulator, warn
from sojourn.study import validity
from sojourn.study.folder import StudyFolder
from sojourn.tabular import arrow

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 2
FILE_BYTES = 64 << 20
"""Fragments are gathered until a file of the table has about this size."""
_STUDY = "study.json"
_TEXTS = ("run", "engine", "simulator", "digest", "scope", "name", "metric", "unit")


def schema() -> pa.Schema:
    """Columns of a row: one number of the summary of one run."""
    import pyarrow as pa

    return pa.schema(
        [("run", pa.string()), ("seed", pa.uint64()), ("engine", pa.string()),
         ("simulator", pa.string()), ("digest", pa.string()), ("wall_s", pa.float64()),
         ("scope", pa.string()), ("name", pa.string()), ("metric", pa.string()),
         ("value", pa.float64()), ("unit", pa.string())]
    )  # fmt: skip


class StudyStore:
    """The store of a study.

    Args:
        folder: its folder.
        report: called with a sentence about every damaged file.

    Raises:
        ImportError: pyarrow is not installed.
    """

    def __init__(self, folder: StudyFolder, report: Callable[[str], None] = warn) -> None:
        arrow()
        self.folder = folder
        self._report = report

    def begin(self, facts: dict[str, Any]) -> None:
        """Record the study; an earlier one of this store is replaced, its runs stay.

        Half-written files of killed writers are removed.

        Args:
            facts: see `facts`.

        Raises:
            InputError: the runs of this store are from another version of Sojourn.
            OSError: the store cannot be written.
        """
        found = self._facts()
        if found is not None:
            self._check_version(found, "give another store, so that versions are not mixed")
        self.folder.remove_leftovers()
        content = {"format": FORMAT, "simulator": simulator()} | facts
        if content != found:
            self.folder.write(_STUDY, files.sealed(content).encode())

    def facts(self) -> dict[str, Any]:
        """The record written by `begin`.

        Raises:
            InputError: this is not a store of a study, has another format, or runs of another
                version of Sojourn.
        """
        found = self._facts()
        if found is None:
            raise InputError(
                f"{self.folder.address}: holds no study; `sojourn study run` makes one"
            )
        self._check_version(
            found, "use that version, or read the rows in `table` and `fragments` as Parquet"
        )
        return found

    def _check_version(self, found: dict[str, Any], remedy: str) -> None:
        """Refuse the runs of another version, which names the same points differently."""
        if found["simulator"] != simulator():
            raise InputError(
                f"{self.folder.address}: its runs are of {found['simulator']}, this is "
                f"{simulator()}; {remedy}"
            )

    def _facts(self) -> dict[str, Any] | None:
        try:
            found = files.unsealed(self.folder.read(_STUDY).decode())
        except FileNotFoundError:
            return None
        except ValueError:
            found = {}
        if "format" in found and found["format"] != FORMAT:
            raise InputError(
                f"{self.folder.address}: is of format {found['format']}, this Sojourn reads "
                f"{FORMAT}; give another store"
            )
        if not validity.is_study(found):
            raise InputError(
                f"{self.folder.address}: {_STUDY} is damaged, or of an earlier version; remove it "
                "and run the study again, which keeps its runs"
            )
        return found

    def write(self, rows: pa.Table) -> str:
        """Store the runs of a batch; return the name of the file.

        Raises:
            OSError: the store cannot be written, or the disk is full.
        """
        return self._write("fragments", rows)

    def _write(self, below: str, rows: pa.Table) -> str:
        content = _parquet(rows)
        name = f"{below}/{_digest(content)}.parquet"
        self.folder.write(name, content)
        return name

    def set_aside(self, run: str, facts: dict[str, Any]) -> None:
        """Record a failed run."""
        self.folder.write(f"failed/{run}.json", files.sealed(facts).encode())

    def failed(self) -> dict[str, dict[str, Any]]:
        """The runs that were set aside."""
        found = {}
        for name in self.folder.names("failed"):
            try:
                facts = files.unsealed(self.folder.read(name).decode())
            except FileNotFoundError:
                continue  # another process retries it
            except ValueError:
                facts = {}
            if validity.is_note(facts):
                found[_stem(name)] = facts
            else:
                self._report(f"{self.folder.address}/{name}: is damaged; its run is tried again")
                self.folder.remove(name)
        return found

    def retry(self) -> None:
        """Forget the runs that were set aside, so they are retried."""
        for name in self.folder.names("failed"):
            self.folder.remove(name)

    def tables(
        self, columns: Sequence[str] | None = None, known: set[str] | None = None
    ) -> Iterator[pa.Table]:
        """All rows, file by file; each run once.

        Args:
            columns: the wanted ones, including ``run``; all by default.
            known: names of files to leave out; files that are read are added.
        """
        seen: set[str] = set()
        # Fragments first, because one that is compacted meanwhile is then found in the table.
        names = self.folder.names("fragments")
        for name in [*self.folder.names("table"), *names]:
            if known is not None and name in known:
                continue
            rows = self._read(name, columns)
            if known is not None:
                known.add(name)
            if rows is not None:
                yield _beyond(rows, seen)

    def runs(self) -> set[str]:
        """The stored runs."""
        found: set[str] = set()
        for rows in self.tables(["run"]):
            found.update(rows["run"].unique().to_pylist())
        return found

    def fragments(self) -> int:
        """The number of fragments that are not compacted yet."""
        return len(self.folder.names("fragments"))

    def compact(self) -> None:
        """Move the runs of all fragments into the table."""
        with self.folder.lock():
            seen: set[str] = set()
            for name in self.folder.names("table"):
                rows = self._read(name, ["run"])
                if rows is not None:
                    seen.update(rows["run"].unique().to_pylist())
            gathered: list[pa.Table] = []
            names: list[str] = []
            size = 0
            for name in self.folder.names("fragments"):
                rows = self._read(name, None)
                if rows is None:
                    continue
                gathered.append(_beyond(rows, seen))
                names.append(name)
                # Rows in memory are about ten times as large as compressed ones.
                size += rows.nbytes // 10
                if size >= FILE_BYTES:
                    self._move(gathered, names)
                    gathered, names, size = [], [], 0
            self._move(gathered, names)

    def _move(self, gathered: list[pa.Table], names: list[str]) -> None:
        import pyarrow as pa

        rows = pa.concat_tables(gathered) if gathered else None
        if rows is not None and rows.num_rows:
            self._write("table", rows)
        for name in names:
            self.folder.remove(name)

    def _read(self, name: str, columns: Sequence[str] | None) -> pa.Table | None:
        """A file; None if it has been compacted since then, or was moved to `damaged`."""
        import pyarrow as pa
        from pyarrow import parquet

        try:
            content = self.folder.read(name)
        except FileNotFoundError:
            return None
        why, rows = "is damaged", None
        if _stem(name) == _digest(content):
            try:
                file = parquet.ParquetFile(pa.BufferReader(content), read_dictionary=list(_TEXTS))
                why = validity.what_is_wrong(file.schema_arrow, schema()) or ""
                rows = None if why else file.read(columns=list(columns) if columns else None)
                why = why or validity.with_missing(rows) or ""
            except (pa.ArrowException, OSError, ValueError) as error:
                first = str(error).splitlines()[0] if str(error) else type(error).__name__
                why = f"cannot be read as Parquet ({first})"
        if why:
            self._put_away(name, content, why)
            return None
        return rows

    def _put_away(self, name: str, content: bytes, why: str) -> None:
        self._report(
            f"{self.folder.address}/{name}: {why}; it is moved to damaged, and `resume` makes its "
            "runs again"
        )
        self.folder.write(f"damaged/{name.rpartition('/')[2]}", content)
        self.folder.remove(name)


def _beyond(rows: pa.Table, seen: set[str]) -> pa.Table:
    """The rows of runs that were not seen before; marks them as seen."""
    import pyarrow as pa
    import pyarrow.compute as pc

    runs = rows["run"].unique().to_pylist()
    new = [run for run in runs if run not in seen]
    seen.update(new)
    if len(new) == len(runs):
        return rows
    return rows.filter(pc.is_in(rows["run"].cast(pa.string()), pa.array(new, pa.string())))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:40]


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[1].split(".", maxsplit=1)[0]


def _parquet(rows: pa.Table) -> bytes:
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(rows.cast(schema()), buffer, compression="zstd")
    return buffer.getvalue()
