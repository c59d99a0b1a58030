"""The sources from which a guest kernel is built, and the selection of a kernel."""

from __future__ import annotations

import json
import os
import re
import tarfile
import tempfile
from pathlib import Path

import pytest

from sojourn.engines.linux import kernel
from sojourn.engines.linux.kernel import archives, fragment, module, names, patched, rust
from sojourn.errors import InputError, Unavailable


def test_sources_that_are_not_there_are_refused_with_the_line_of_apt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(archives, "FOLDER", tmp_path)
    with pytest.raises(InputError, match=r"apt-get install linux-source-6\.12 .*backports"):
        archives.sources("6.12")
    with pytest.raises(InputError, match="is not an archive of kernel sources"):
        archives.sources(str(tmp_path / "linux.tar.xz"))


@pytest.mark.parametrize("text", ["", "latest", "6", "6.12-rc1"])
def test_a_text_that_names_no_release_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"'{text}': is neither a kernel release .* such as 6.12"):
        archives.release_asked(text)


def test_sources_with_another_layout_are_refused_and_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel, "missing", lambda: "")
    # Messages shorten long paths, and names of pytest's folders grow with the number of its runs.
    with tempfile.TemporaryDirectory() as folder:
        archive = _archive(Path(folder), "9.9", "VERSION = 9\nPATCHLEVEL = 9\nSUBLEVEL = 1\n")
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        expected = r"arch/um/\S+: is not there; .* give it with `kernel`"
        with pytest.raises(InputError, match=expected):
            kernel.build(_Silent(), archive=archive)
        assert list(kernel.cache().iterdir()) == []


def test_an_archive_that_ends_early_is_refused_with_what_tar_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    version = "VERSION = 9\nPATCHLEVEL = 9\nSUBLEVEL = 1\n"
    archive = _archive(tmp_path, "9.9", version, noise=os.urandom(1 << 21))
    archive.write_bytes(archive.read_bytes()[: -(1 << 19)])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel, "missing", lambda: "")
    with pytest.raises(InputError, match=r"`tar .*end.*; fetch linux-source-9.9.tar.xz again"):
        kernel.build(_Silent(), archive=archive)


class _Silent:
    def step(self, done: float, what: str) -> None:
        """Ignore messages."""


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
            "version": release, "hz": 1000, "configuration": kernel.configuration(1000),
            "source": f"linux-source-{release}.tar.xz, SHA-256 0",
        }))  # fmt: skip
        os.utime(folder / "about.json", (0, 2 if release == "6.12" else 1))
    assert kernel.find() == kernel.find(release="6.1")
    newer = kernel.find(release="6.12")
    assert newer is not None
    assert newer.release == "6.12"
    assert kernel.find(release="7.2") is None
    assert [each.release for each in kernel.built()] == ["6.12", "6.1"]


def test_the_kernel_of_a_release_is_given_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = _of_release("7.2", b"uml_dir=")
    assert kernel.given(Path("7.2")) == kernel.own(program)
    assert kernel.given(program).version == "7.2.13"
    with pytest.raises(InputError, match=r"no guest kernel of that release .*built: .*7\.2"):
        kernel.given(Path("6.12"))
    other = tmp_path / "linux"
    other.write_bytes(b"uml_dir=")
    other.chmod(0o755)
    assert kernel.given(other).version == "own"


TARGET = """\
--- a/net/codel.h
+++ b/net/codel.h
@@ -1,3 +1,3 @@
 start
-target 5
+target 10
 end
--- /dev/null
+++ b/net/new.h
@@ -0,0 +1 @@
+new
"""


def _sources(folder: Path) -> tuple[Path, Path, Path]:
    """Sources, their work folder, and a patch that changes a file and adds another."""
    source, patch = folder / "work" / "linux", folder / "fix.patch"
    (source / "net").mkdir(parents=True)
    (source / "net" / "codel.h").write_text("start\ntarget 5\nend\n")
    patch.write_text(TARGET)
    return source, source.parent, patch


def test_a_patch_is_undone_before_the_next_one(tmp_path: Path) -> None:
    source, work, patch = _sources(tmp_path)
    changed = patched.files_of(patch, TARGET)
    for _ in range(2):
        patched.restore(source, work)
        patched.apply(source, work, patch, changed)
        assert (source / "net" / "codel.h").read_text() == "start\ntarget 10\nend\n"
        assert (source / "net" / "new.h").read_text() == "new\n"
    patched.restore(source, work)
    assert (source / "net" / "codel.h").read_text() == "start\ntarget 5\nend\n"
    assert not (source / "net" / "new.h").exists()


def test_a_patch_that_does_not_apply_leaves_the_sources_as_they_were(tmp_path: Path) -> None:
    source, work, patch = _sources(tmp_path)
    patch.write_text(TARGET.replace("-target 5", "-target 6"))
    with pytest.raises(InputError, match=r"fix\.patch: does not apply to linux: .*FAILED"):
        patched.apply(source, work, patch, patched.files_of(patch, TARGET))
    found = {path.name: path.read_text() for path in (source / "net").iterdir()}
    assert found == {"codel.h": "start\ntarget 5\nend\n"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing\n", "names no file; give a unified diff"),
        ("--- a/../../x\n+++ b/../../x\n", "paths must begin with one folder"),
        ("--- /etc/x\n+++ /etc/x\n", "paths must begin with one folder"),
    ],
)
def test_a_patch_outside_the_sources_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        patched.files_of(Path("fix.patch"), text)


def test_a_kernel_with_a_patch_is_given_by_its_name_and_is_not_a_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = _of_release("named/fixed", b"uml_dir=")
    assert kernel.given(Path("fixed")).path == program
    assert [each.path for each in kernel.named()] == [program]
    assert names.folders(kernel.cache()) == [program.parent]
    assert kernel.find() is None
    with pytest.raises(InputError, match="has 1000 Hz, and the scenario asks for 250 Hz"):
        kernel.given(Path("fixed"), 250)
    with pytest.raises(Unavailable, match=r"other: .* has that name \(there: fixed\); .*--patch"):
        kernel.given(Path("other"))


@pytest.mark.parametrize("name", ["", "7.2", "a/b", "-x", "a,b"])
def test_a_name_that_could_be_a_release_or_a_path_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="write a letter, then letters, digits"):
        patched.check_name(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CONFIG_A=y\nb = c\n", "line 2: 'b = c': write CONFIG_NAME=value"),
        ("CONFIG_A\n", "line 1: 'CONFIG_A': write"),
        ("# CONFIG_A was here\n", "sets no option"),
        ("", "sets no option"),
    ],
)
def test_a_fragment_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "more.config"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        fragment.read(path)


def test_an_option_that_make_drops_is_refused_by_name() -> None:
    path, made = Path("more.config"), "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_S=40\n"
    fragment.check(path, "CONFIG_A=y\n# CONFIG_B is not set\n# CONFIG_C is not set\n", made)
    fragment.check(path, "CONFIG_S=1\n# a comment\n\nCONFIG_S=40\n", made)
    for line, found in (("CONFIG_B=y", "n"), ("CONFIG_C=m", "n"), ("CONFIG_S=41", "40")):
        with pytest.raises(InputError, match=f"{line}: these sources make it {found}; name"):
            fragment.check(path, line, made)
    with pytest.raises(InputError, match="CONFIG_A=n: these sources make it y"):
        fragment.check(path, "# CONFIG_A is not set", made)


def test_the_module_of_a_named_kernel_is_asked_for_by_that_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = _of_release("named/fixed", b"uml_dir=").parent
    with pytest.raises(Unavailable, match="`sojourn kernel module --kernel fixed` makes it"):
        module.require(folder)


def test_sources_with_other_options_have_another_folder() -> None:
    assert len({patched._work("6.1", 1000, more) for more in ("", "CONFIG_A=y", "CONFIG_B=y")}) == 3


def _of_release(release: str, program: bytes) -> Path:
    folder = kernel.cache() / release
    folder.mkdir(parents=True)
    (folder / "linux").write_bytes(program)
    (folder / "linux").chmod(0o755)
    (folder / "about.json").write_text(json.dumps({
        "version": f"{release}.13", "hz": 1000, "configuration": kernel.configuration(1000),
        "source": f"linux-source-{release}.tar.xz, SHA-256 0",
    }))  # fmt: skip
    return folder / "linux"


@pytest.mark.parametrize(
    ("makefile", "version"),
    [("VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 13\nEXTRAVERSION =\n", "7.2.13"), ("all:\n", "")],
)
def test_an_archive_that_is_not_installed_says_its_version_itself(
    tmp_path: Path, makefile: str, version: str
) -> None:
    archive = _archive(tmp_path, "7.2", makefile)
    if version:
        assert archives.version_of(archive) == version
        return
    with pytest.raises(InputError, match="is damaged, or holds no kernel's sources"):
        archives.version_of(archive)
    archive.write_bytes(b"half")
    with pytest.raises(InputError, match="is damaged"):
        archives.version_of(archive)


def _archive(folder: Path, release: str, makefile: str, noise: bytes = b"") -> Path:
    """An archive of sources with little more than a Makefile; `noise` is a file after it."""
    source = folder / f"linux-source-{release}"
    (source / "Documentation").mkdir(parents=True)
    (source / "Documentation" / "Makefile").write_text("VERSION = 1\n")
    (source / "Makefile").write_text(makefile)
    (source / "noise").write_bytes(noise)
    archive = folder / f"linux-source-{release}.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for name in ("Documentation", "Makefile", "noise"):
            tar.add(source / name, f"{source.name}/{name}")
    return archive


def test_the_compiler_of_the_web_page_serves_for_modules_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = tmp_path / "web/usr/bin/rustc"
    monkeypatch.setattr(rust, "_look", lambda path: path if path == there else None)
    assert rust.find(tmp_path / "rust") == there
