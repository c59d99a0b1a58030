"""Guest kernels with a patch or further options, by name.

Their sources are kept, so only changes compile. Before a patch is applied, the files that it
changes are saved next to the sources, and restored before the next patch; an interrupted build
therefore leaves no trace in later ones.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path, PurePosixPath

from sojourn import files, reading, tools
from sojourn.engines.linux import kernel
from sojourn.engines.linux.kernel import archives, fragment, module_tree
from sojourn.engines.linux.kernel.names import NAME, folder_of
from sojourn.errors import InputError, Unavailable

_CHANGED = re.compile(r"^(?:---|\+\+\+) ([^\t\n]+)", re.MULTILINE)
_LIST, _COPIES = "before.json", "before"


def build(
    meter: kernel.Meter, name: str, *, patch: Path | None = None, config: Path | None = None,
    hz: int = kernel.DEFAULT_HZ, jobs: int = 2, archive: Path | None = None,
) -> kernel.Kernel:  # fmt: skip
    """Build a kernel from changed sources, which are kept for the next patch.

    Args:
        meter: receives the progress.
        name: what ``--kernel`` calls it.
        patch: a unified diff against the kernel's sources, with paths such as ``a/net/...``.
        config: further options, merged over the guest kernel's (`fragment`).
        hz: timer interrupts per second.
        jobs: concurrent compilers.
        archive: see `kernel.build`.

    Raises:
        InputError: the name, the patch or an option is not usable, a package is missing, or the
            kernel does not compile.
    """
    check_name(name)
    if patch is not None and shutil.which("patch") is None:
        raise Unavailable("kernel build: patch: not installed; apt-get install patch")
    text = reading.text(patch, "patch") if patch is not None else ""
    changed = files_of(patch, text) if patch is not None else []
    more = fragment.read(config) if config is not None else ""
    tarball = kernel.archive_or_usual(archive)
    version = archives.version_of(tarball)
    work = _work(version, hz, more)
    source = kernel.prepared(tarball, work, hz, meter, more=more)
    if config is not None:
        fragment.check(config, more, (source / ".config").read_text())
    restore(source, work)
    if patch is not None:
        apply(source, work, patch, changed)
    kernel.compile_in(source, jobs, meter)
    folder = folder_of(kernel.cache(), name)
    folder.mkdir(parents=True, exist_ok=True)
    module_tree.keep(source, folder)
    about = kernel.describe(tarball, f"{version}+{name}", hz, source)
    kernel.keep(source / kernel.PROGRAM, folder, {**about, "patch": text, "options": more})
    meter.step(1.0, "done")
    return kernel.given(Path(name), hz)


def _work(version: str, hz: int, more: str) -> Path:
    """The folder of the sources, one per set of options, as most files depend on these."""
    digest = f"-{hashlib.sha256(more.encode()).hexdigest()[:8]}" if more else ""
    return kernel.cache() / f"{version}-{hz}hz-{kernel.configuration(hz)[:8]}{digest}.sources"


def check_name(name: str) -> None:
    """Refuse a name that ``--kernel`` could not tell from a release or a path.

    Raises:
        InputError: it is not a letter followed by letters, digits, ``-`` and ``_``.
    """
    if NAME.fullmatch(name) is None:
        raise InputError(
            f"kernel build: --name {name}: write a letter, then letters, digits, - and _"
        )


def restore(source: Path, work: Path) -> None:
    """Undo the last patch: put back the files that were saved before it."""
    saved = work / _LIST
    if not saved.exists():
        return
    for name, existed in json.loads(saved.read_text()).items():
        if existed:
            # Without its time, so that make sees the change.
            shutil.copyfile(work / _COPIES / name, source / name)
        else:
            (source / name).unlink(missing_ok=True)
    saved.unlink()


def apply(source: Path, work: Path, patch: Path, changed: list[str]) -> None:
    """Save the files that a patch changes, then change them.

    Args:
        source: the kernel's sources, without a patch.
        work: the folder of the sources, where files are saved.
        patch: the unified diff.
        changed: the files that it names.

    Raises:
        InputError: it does not apply; the sources are as before.
    """
    shutil.rmtree(work / _COPIES, ignore_errors=True)
    for name in changed:
        if (source / name).exists():
            copy = work / _COPIES / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, copy)
    existed = {name: (source / name).exists() for name in changed}
    files.write(work / _LIST, json.dumps(existed))
    command = [
        "patch", "--strip=1", "--forward", "--batch", "--no-backup-if-mismatch",
        "--reject-file=-", f"--directory={source}", f"--input={patch.absolute()}",
    ]  # fmt: skip
    done = tools.run(command)
    if done.returncode:
        restore(source, work)
        said = " | ".join((done.stdout + done.stderr).strip().splitlines()[:4])
        raise InputError(f"kernel build: {patch}: does not apply to {source.name}: {said}")


def files_of(patch: Path, text: str) -> list[str]:
    """The files that a unified diff names, without the first folder of each.

    Raises:
        InputError: it names none, or one outside the sources.
    """
    named = [name.strip() for name in _CHANGED.findall(text)]
    paths = [PurePosixPath(name) for name in named if name != "/dev/null"]
    if not paths:
        raise InputError(f"kernel build: {patch}: names no file; give a unified diff (git diff)")
    for path in paths:
        if path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
            raise InputError(
                f"kernel build: {patch}: {path}: paths must begin with one folder, as in "
                "a/net/sched/sch_codel.c (git diff)"
            )
    return list(dict.fromkeys(str(PurePosixPath(*path.parts[1:])) for path in paths))
