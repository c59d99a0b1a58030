"""Which sources a guest kernel is built from, and which kernel is taken."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sojourn.engines.linux import kernel
from sojourn.engines.linux.kernel import archives, rust
from sojourn.errors import InputError


def test_sources_that_are_not_there_are_refused_with_the_line_of_apt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(archives, "FOLDER", tmp_path)
    with pytest.raises(InputError, match=r"apt-get install linux-source-6\.12 .*backports"):
        archives.sources("6.12")
    with pytest.raises(InputError, match="is no archive of kernel sources"):
        archives.sources(str(tmp_path / "linux.tar.xz"))


def test_a_newer_release_is_taken_only_if_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(archives, "FOLDER", tmp_path)
    for release in ("6.9", "6.12", "6.1"):
        (tmp_path / f"linux-source-{release}.tar.xz").touch()
    assert archives.usual() == tmp_path / "linux-source-6.1.tar.xz"
    assert archives.sources("6.12") == tmp_path / "linux-source-6.12.tar.xz"
    (tmp_path / "linux-source-6.1.tar.xz").unlink()
    assert archives.usual() == tmp_path / "linux-source-6.12.tar.xz"


def test_a_kernel_of_the_default_release_is_preferred_to_one_built_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for release in ("6.1", "6.12"):
        folder = kernel.cache() / release
        folder.mkdir(parents=True)
        (folder / "linux").write_bytes(b"")
        (folder / "about.json").write_text(json.dumps({
            "version": release, "hz": 1000, "configuration": kernel._configuration(1000),
            "source": f"linux-source-{release}.tar.xz, SHA-256 0",
        }))  # fmt: skip
        os.utime(folder / "about.json", (0, 2 if release == "6.12" else 1))
    assert kernel.find() == kernel.find(release="6.1")
    newer = kernel.find(release="6.12")
    assert newer is not None
    assert newer.release == "6.12"
    assert kernel.find(release="7.2") is None


def test_the_compiler_of_the_web_page_serves_for_modules_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = tmp_path / "web/usr/bin/rustc"
    monkeypatch.setattr(rust, "_look", lambda path: path if path == there else None)
    assert rust.find(tmp_path / "rust") == there
