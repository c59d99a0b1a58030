"""Archives of the kernel's sources, as Debian's packages ``linux-source-...`` install them."""

from __future__ import annotations

import lzma
import re
import subprocess
import tarfile
from contextlib import suppress
from pathlib import Path

from sojourn.errors import InputError

# The release of docs/results/agreement.md, the default if several are available.
DEFAULT_RELEASE = "6.1"
FOLDER = Path("/usr/src")


def sources(release: str) -> Path:
    """The archive of a release's sources, as Debian's package ``linux-source-RELEASE`` installs it.

    Args:
        release: such as ``6.12``, or the path of such an archive.

    Raises:
        InputError: it does not exist; the message names the apt command.
    """
    if "/" in release:
        archive = Path(release)
        if archive.is_file() and release_of(archive.name):
            return archive
        raise InputError(
            f"kernel build: {archive}: is not an archive of kernel sources; give one of a "
            "package of Debian's, such as /usr/src/linux-source-6.12.tar.xz"
        )
    if not _is_release(release):
        raise InputError(
            f"kernel build: --source {release!r}: is neither a kernel release nor a path; give one "
            "such as 6.12, or /usr/src/linux-source-6.12.tar.xz"
        )
    archive = FOLDER / f"linux-source-{release}.tar.xz"
    if archive.is_file():
        return archive
    others = ", ".join(release_of(path.name) for path in _all())
    raise InputError(
        f"kernel build: {archive}: is not there; apt-get install linux-source-{release}   # as "
        "root; Debian has newer kernels in the suites NAME-security, NAME-backports and unstable, "
        "which /etc/apt/sources.list must name first, and --source takes the path of an archive "
        f"too{'; here is ' + others if others else ''}"
    )


def _is_release(text: str) -> bool:
    return re.fullmatch(r"[0-9]+(\.[0-9]+)+", text) is not None


def usual() -> Path | None:
    """The archive of the default release if it exists, else the newest; None without any."""
    found = _all()
    usual = [path for path in found if release_of(path.name) == DEFAULT_RELEASE]
    return next(iter(usual or found[::-1]), None)


def _all() -> list[Path]:
    return sorted(FOLDER.glob("linux-source-*.tar.xz"), key=_release)


def release_asked(text: str) -> str:
    """The release that a text names, directly or by the path of an archive.

    Raises:
        InputError: it is not a release, or the archive does not exist.
    """
    return text if _is_release(text) else release_of(sources(text))


def release_of(archive: Path | str) -> str:
    """The release in the name of an archive of sources; empty if it has none."""
    found = re.fullmatch(r"linux-source-([0-9.]+)\.tar\.xz", Path(archive).name)
    return found[1] if found else ""


def _release(tarball: Path) -> tuple[int, ...]:
    """The numbers of its version, so that 6.10 sorts after 6.9."""
    return tuple(map(int, re.findall(r"\d+", tarball.name)))


def version_of(tarball: Path) -> str:
    """The version of the package that installed an archive, else that of the sources in it.

    Raises:
        InputError: it is not an archive of a kernel's sources.
    """
    if tarball.parent == FOLDER:
        query = ["dpkg-query", "-W", "-f", "${Version}", tarball.name.removesuffix(".tar.xz")]
        with suppress(OSError, subprocess.CalledProcessError):
            answer = subprocess.run(query, capture_output=True, text=True, check=True)
            return answer.stdout.strip().replace("/", "-")
    return _version_in(tarball)


def _version_in(tarball: Path) -> str:
    """The version that the kernel's Makefile states, in the first of its lines."""
    try:
        with tarfile.open(tarball, "r|xz") as archive:
            found = (member for member in archive if re.fullmatch(r"[^/]+/Makefile", member.name))
            file = archive.extractfile(next(found))
            text = file.read().decode() if file else ""
    except (OSError, StopIteration, EOFError, tarfile.TarError, lzma.LZMAError, UnicodeError):
        text = ""
    stated = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", text, re.MULTILINE))
    if len(stated) != 3:
        raise InputError(
            f"kernel build: {tarball}: is damaged, or holds no kernel's sources; fetch it again"
        )
    return f"{stated['VERSION']}.{stated['PATCHLEVEL']}.{stated['SUBLEVEL']}"
