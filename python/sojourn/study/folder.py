"""The folder of a study: a local one, or any address that fsspec reads (``s3://...``).

Both contain only complete files: a local file is renamed into place, an object of an object store
appears when it is complete.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from sojourn import files, platforms
from sojourn.errors import InputError, not_empty


class StudyFolder(Protocol):
    """Files by a relative name with forward slashes."""

    @property
    def address(self) -> str:
        """The text that `open_folder` reads."""

    def names(self, below: str) -> list[str]:
        """Names of the files in a folder, sorted; empty if the folder does not exist."""

    def read(self, name: str) -> bytes:
        """The content of a file; raises FileNotFoundError."""

    def write(self, name: str, content: bytes) -> None:
        """Write a complete file; raises OSError."""

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""

    def remove_leftovers(self) -> None:
        """Remove half-written files of killed writers."""

    def lock(self) -> Any:
        """A lock for one process at a time; released when the process ends."""


class LocalFolder:
    """A folder of this machine, or of a shared file system.

    Args:
        path: where.

    Raises:
        InputError: there is a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        if self._path.exists() and not self._path.is_dir():
            raise InputError(f"--store {path}: is a file; give a folder")

    @property
    def address(self) -> str:  # noqa: D102
        return str(self._path)

    def names(self, below: str) -> list[str]:  # noqa: D102
        folder = self._path / below
        if not folder.is_dir():
            return []
        return sorted(f"{below}/{path.name}" for path in folder.iterdir() if path.name[0] != ".")

    def read(self, name: str) -> bytes:  # noqa: D102
        return (self._path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:  # noqa: D102
        files.write(self._path / name, content)

    def remove(self, name: str) -> None:  # noqa: D102
        (self._path / name).unlink(missing_ok=True)

    def remove_leftovers(self) -> None:  # noqa: D102
        files.remove_leftovers([*self._path.glob(".*.tmp"), *self._path.glob("*/.*.tmp")])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait for the lock of the folder; then remove the remains of killed writers."""
        files.make_folder(self._path)
        with (self._path / ".lock").open("w") as file:
            platforms.lock(file.fileno())
            self.remove_leftovers()
            yield


class RemoteFolder:
    """A folder behind fsspec, which has S3, GCS, Azure, SFTP and others by their own packages.

    Args:
        address: such as ``s3://bucket/study``.

    Raises:
        InputError: fsspec or the package of that protocol is not installed.
    """

    def __init__(self, address: str) -> None:
        try:
            import fsspec

            self._system, self._root = fsspec.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"{address}: {error}; pip install 'sojourn[cluster]' "
                "and the package of the protocol"
            ) from error
        self._address = address

    @property
    def address(self) -> str:  # noqa: D102
        return self._address

    def names(self, below: str) -> list[str]:  # noqa: D102
        self._system.invalidate_cache()
        try:
            with self._reached(FileNotFoundError):
                found = self._system.ls(f"{self._root}/{below}", detail=False)
        except FileNotFoundError:
            return []
        return sorted(f"{below}/{path.rsplit('/', 1)[1]}" for path in found)

    def read(self, name: str) -> bytes:  # noqa: D102
        with self._reached(FileNotFoundError):
            content: bytes = self._system.cat_file(f"{self._root}/{name}")
        return content

    def write(self, name: str, content: bytes) -> None:  # noqa: D102
        with self._reached():
            self._system.pipe_file(f"{self._root}/{name}", content)

    def remove(self, name: str) -> None:  # noqa: D102
        with self._reached():
            if self._system.exists(f"{self._root}/{name}"):
                self._system.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _reached(self, *usual: type[Exception]) -> Iterator[None]:
        """Each protocol's library has its own errors for networks, addresses and keys."""
        try:
            yield
        except usual:
            raise
        except Exception as error:
            why = f"cannot be reached ({error}); see to the address, the keys and the network"
            raise OSError(errno.EIO, why, self._address) from error

    def remove_leftovers(self) -> None:
        """Do nothing, because an object appears only when it is complete."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Object stores have no locks; only one client at a time may compact, see the docs."""
        yield


def open_folder(address: str | Path) -> StudyFolder:
    """A local folder by its path, any other by its address with ``://``."""
    not_empty(address, "store")
    text = str(address)
    return RemoteFolder(text) if "://" in text else LocalFolder(Path(text))
