"""Base classes of results: the main table for Arrow, pandas and polars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["text", "integer", "number"]


class _HasArrow(Protocol):
    def to_arrow(self) -> pa.Table: ...

    def _content(self) -> Any: ...


class Tabular:
    """A result with a main table; `to_arrow` of the class documents its rows and columns."""

    def _content(self: _HasArrow) -> Any:
        """The table for `as_pandas` and `as_polars`."""
        return self.to_arrow()

    def to_pandas(self: _HasArrow) -> Any:
        """The table of `to_arrow` as a pandas data frame.

        Raises:
            ImportError: pandas is not installed; it is not a dependency of Sojourn.
        """
        return as_pandas(self._content())

    def to_polars(self: _HasArrow) -> Any:
        """The table of `to_arrow` as a polars data frame.

        Raises:
            ImportError: polars is not installed; it is not a dependency of Sojourn.
        """
        return as_polars(self._content())


class _HasTables(Protocol):
    main_table: ClassVar[str]

    def table(self, name: str) -> pa.Table: ...

    def _content(self, name: str) -> Any: ...


class TabularByName:
    """A result with several tables, one of them the default."""

    main_table: ClassVar[str]

    def _content(self: _HasTables, name: str) -> Any:
        """A table for `as_pandas` and `as_polars`."""
        return self.table(name)

    def to_arrow(self: _HasTables, name: str | None = None) -> pa.Table:
        """A table as an Arrow table, the same as `table`.

        Args:
            name: name of the table; `main_table` by default.

        Raises:
            KeyError: the table does not exist.
            ImportError: pyarrow is not installed.
        """
        return self.table(self.main_table if name is None else name)

    def to_pandas(self: _HasTables, name: str | None = None) -> Any:
        """A table as a pandas data frame; arguments and errors are those of `to_arrow`.

        Raises:
            ImportError: pandas is not installed; it is not a dependency of Sojourn.
        """
        return as_pandas(self._content(self.main_table if name is None else name))

    def to_polars(self: _HasTables, name: str | None = None) -> Any:
        """A table as a polars data frame; arguments and errors are those of `to_arrow`.

        Raises:
            ImportError: polars is not installed; it is not a dependency of Sojourn.
        """
        return as_polars(self._content(self.main_table if name is None else name))


@dataclass(frozen=True)
class Columns:
    """A table that needs no library.

    Attributes:
        kinds: kinds of the values, by column.
        values: keyed by column; None is a value that is missing.
    """

    kinds: Mapping[str, Kind]
    values: Mapping[str, Sequence[Any]]

    @classmethod
    def of_rows(cls, kinds: Mapping[str, Kind], rows: Iterable[Sequence[Any]]) -> Columns:
        """The table of rows whose values are in the order of the columns."""
        lists: list[list[Any]] = [[] for _ in kinds]
        for row in rows:
            for column, value in zip(lists, row, strict=True):
                column.append(value)
        return cls(kinds, dict(zip(kinds, lists, strict=True)))

    def columns(self) -> dict[str, Sequence[Any]]:
        """The same columns as `columns` of a table of the core."""
        return dict(self.values)

    def fields(self) -> list[tuple[str, str, bool]]:
        """The same fields as `fields` of a table of the core; whole numbers are never missing."""
        return [(name, kind, kind != "integer") for name, kind in self.kinds.items()]

    def to_arrow(self) -> pa.Table:
        """The table as an Arrow table.

        Raises:
            ImportError: pyarrow is not installed.
        """
        pa = arrow()
        types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64()}
        return pa.table(
            {name: pa.array(self.values[name], types[k]) for name, k in self.kinds.items()}
        )

    def to_polars(self) -> Any:
        """The table as a polars data frame."""
        polars = import_module("polars")
        types = {"text": polars.String, "integer": polars.Int64, "number": polars.Float64}
        schema = {name: types[kind] for name, kind in self.kinds.items()}
        return polars.DataFrame(dict(self.values), schema=schema)


# pandas types by kind of column, and whether values may be missing; `text` depends on the version.
# Types do not depend on the values: an empty table has the same as a full one.
_DTYPES = {
    ("text", False): "text", ("text", True): "text", ("boolean", False): "bool",
    ("boolean", True): "object", ("integer", False): "int64", ("integer", True): "float64",
    ("number", False): "float64", ("number", True): "float64", ("pairs", False): "object",
    ("pairs", True): "object",
}  # fmt: skip


def known(value: float) -> float | None:
    """A number for a table; None if unknown."""
    return None if math.isnan(value) else value


def arrow() -> Any:
    """The library pyarrow.

    Raises:
        ImportError: it is not installed; it is not a dependency of Sojourn.
    """
    try:
        return import_module("pyarrow")
    except ImportError:
        raise ImportError(
            "an Arrow table needs pyarrow; pip install 'sojourn[arrow]', or use to_pandas, "
            "to_polars or the columns of a result",
            name="pyarrow",
        ) from None


def as_pandas(table: Any) -> Any:
    """A table as a pandas data frame.

    Args:
        table: a table of Arrow or of the core, or `Columns`.

    Raises:
        ImportError: pandas is not installed.
    """
    try:
        pandas = import_module("pandas")  # checked here: the message of pyarrow names no remedy
    except ImportError:
        raise ImportError("to_pandas: pandas is not installed; pip install pandas") from None
    if hasattr(table, "to_pandas"):
        return table.to_pandas()
    kinds = {name: _DTYPES.get((kind, gaps)) for name, kind, gaps in table.fields()}
    text = pandas.Series(["text"]).dtype  # `str` in pandas 3, `object` before
    return pandas.DataFrame({
        name: pandas.Series(values, dtype=text if kinds[name] == "text" else kinds[name])
        for name, values in table.columns().items()
    })  # fmt: skip


def as_polars(table: Any) -> Any:
    """A table as a polars data frame, without a copy where types allow it.

    Args:
        table: a table of Arrow or of the core, or `Columns`.

    Raises:
        ImportError: polars is not installed.
    """
    try:
        polars = import_module("polars")
    except ImportError:
        raise ImportError("to_polars: polars is not installed; pip install polars") from None
    return table.to_polars() if isinstance(table, Columns) else polars.DataFrame(table)
