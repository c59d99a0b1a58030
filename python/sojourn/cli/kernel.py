"""The command ``kernel``: the guest kernel of the engine ``linux``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from sojourn import platforms
from sojourn.cli import console, once, options
from sojourn.engines.linux import kernel as guest_kernel
from sojourn.engines.linux.kernel import archives, rust
from sojourn.engines.linux.kernel import module as aqm_module
from sojourn.errors import InputError

_SAY_EVERY_S = 15.0


@once.group()
def kernel() -> None:
    """The guest kernel that the engine linux runs."""


@kernel.command(
    epilog="""\b
Examples:
  sojourn kernel build
  sojourn kernel build --hz 250
  sojourn kernel build --source 7.2
  sojourn kernel build --patch fix.patch --name fixed
  sojourn kernel build --config selftests/net/config --name more
"""
)
@click.option(
    "--hz", type=click.Choice(["100", "250", "300", "1000"]), default="1000", show_default=True,
    help="Timer interrupts per second, as engine.linux.hz asks for it.",
)  # fmt: skip
@click.option(
    "--source", type=options.NAME, metavar="RELEASE",
    help="Sources of another release than 6.1, such as 6.12, or the path of their archive; "
    "--kernel RELEASE runs it.",
)  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(1), default=2, metavar="N", show_default=True,
    help="Number of compilers that run in parallel.",
)  # fmt: skip
@click.option(
    "--debug", is_flag=True,
    help="Build with KASAN and lockdep, for work on the module. The kernel is slow; select it by "
    "its path.",
)  # fmt: skip
@click.option(
    "--patch", type=options.FilePath(path_type=Path), metavar="FILE",
    help="With this unified diff (git diff), from sources that are kept: a second patch of a "
    "qdisc compiles in a minute or two.",
)  # fmt: skip
@click.option(
    "--config", type=options.FilePath(path_type=Path), metavar="FILE",
    help="With the options of this configuration fragment (CONFIG_...=y) as well.",
)  # fmt: skip
@click.option("--name", metavar="NAME", help="With --patch or --config: --kernel NAME runs it.")
def build(
    hz: str, source: str | None, jobs: int, debug: bool, patch: Path | None, config: Path | None,
    name: str | None,
) -> int:  # fmt: skip
    """Build it from Debian's kernel sources, in about 5 minutes; nothing needs root.

    An interrupted build continues. The kernel is kept in the cache, by version and configuration.
    """
    platforms.require_linux("kernel build")
    if (patch is None and config is None) != (name is None):
        raise click.UsageError(
            "--name goes with --patch or --config: give it with one of them, or none of them."
        )
    if name is not None and debug:
        raise click.UsageError("--debug: cannot be combined with --name; leave one out.")
    if name is not None:
        return _build_named(name, patch, config, int(hz), jobs, source)
    release = archives.release_asked(source) if source is not None else None
    found = guest_kernel.find(int(hz), release, debug=debug)
    if found is not None:
        print(f"{found}, is there already")
        return 0
    archive = archives.sources(source) if source is not None else None
    with _meter() as meter:
        made = guest_kernel.build(meter, hz=int(hz), jobs=jobs, archive=archive, debug=debug)
    print(made)
    return 0


def _build_named(
    name: str, patch: Path | None, config: Path | None, hz: int, jobs: int, source: str | None
) -> int:
    from sojourn.engines.linux.kernel import patched

    patched.check_name(name)
    archive = archives.sources(source) if source is not None else None
    with _meter() as meter:
        print(patched.build(
            meter, name, patch=patch, config=config, hz=hz, jobs=jobs, archive=archive
        ))  # fmt: skip
    return 0


def _meter() -> Any:
    return _Bar() if sys.stderr.isatty() else _Lines()


@kernel.command(
    epilog="""\b
Examples:
  sojourn kernel module
  sojourn kernel module --for host
  sojourn kernel module --kernel fixed
"""
)
@click.option(
    "--hz", type=click.Choice(["100", "250", "300", "1000"]), default="1000", show_default=True,
    help="The guest kernel with that many timer interrupts per second.",
)  # fmt: skip
@click.option(
    "--release", metavar="RELEASE", help="The guest kernel of another release than 6.1.",
)  # fmt: skip
@click.option(
    "--for", "target", type=click.Choice(["guest", "host"]), default="guest", show_default=True,
    help="The guest kernel, or the one that runs this machine.",
)  # fmt: skip
@click.option(
    "--headers", type=options.FilePath(path_type=Path), metavar="PATH",
    help="A kernel of x86-64 by its headers, instead.",
)  # fmt: skip
@click.option("--debug", is_flag=True, help="The guest kernel that `build --debug` made, instead.")
@click.option("--kernel", "name", metavar="NAME", help="The guest kernel of that name, instead.")
def module(
    hz: str, release: str | None, target: str, headers: Path | None, debug: bool, name: str | None
) -> int:
    """Compile our AQMs as a kernel module, in about a minute; nothing needs root.

    It registers the queueing discipline `sojourn`, which bottleneck = "sojourn-module" runs.
    """
    platforms.require_linux("kernel module")
    if name is not None:
        if headers is not None or release is not None or debug or target != "guest":
            raise click.UsageError(
                "--kernel: names the kernel; leave out --release, --for, --headers and --debug."
            )
        named = guest_kernel.given(Path(name), int(hz))
        found = aqm_module.of_guest(named.path.parent)
    else:
        found = _target(int(hz), release, target, headers, debug)
    print(aqm_module.build(found, _compilers()))
    return 0


def _target(
    hz: int, release: str | None, target: str, headers: Path | None, debug: bool
) -> aqm_module.Target:
    if headers is not None:
        return aqm_module.of_headers(headers, guest_kernel.cache())
    if target == "host":
        return aqm_module.of_this_machine(guest_kernel.cache())
    found = guest_kernel.find(hz, release, debug=debug)
    if found is None:
        what, option = (f" {release}", f" --source {release}") if release else ("", "")
        option += "" if hz == guest_kernel.DEFAULT_HZ else f" --hz {hz}"
        option += " --debug" if debug else ""
        raise InputError(
            f"kernel module: no guest kernel{what} of {hz} Hz is built yet; `sojourn kernel "
            f"build{option}` makes it in about 5 minutes"
        )
    return aqm_module.of_guest(found.path.parent)


@kernel.command()
def toolchain() -> int:
    """Unpack Debian's Rust compiler with the sources of its library into the cache.

    240 MB from Debian's archive, by apt-get; nothing is installed and nothing needs root.
    """
    platforms.require_linux("kernel toolchain")
    found = rust.find(_compilers())
    if found is None:
        found = rust.unpack(_compilers())
    print(f"{found.path}: {found.version}")
    return 0


def _compilers() -> Path:
    return guest_kernel.cache().parent / "rust"


@kernel.command()
def where() -> int:
    """List the kernels that have been built."""
    found = [each for hz in (100, 250, 300, 1000) for each in guest_kernel.built(hz)]
    found += guest_kernel.named()
    for each in found:
        print(each)
    if not found:
        console.say("no guest kernel yet; `sojourn kernel build` makes one")
    return 0


class _Lines:
    """Progress as occasional lines."""

    def __enter__(self) -> _Lines:
        self._said = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def step(self, done: float, what: str) -> None:
        if time.monotonic() - self._said > _SAY_EVERY_S:
            self._said = time.monotonic()
            console.say(f"kernel build: {100 * done:.0f} %, {what}")


class _Bar:
    """Progress as a bar."""

    def __enter__(self) -> _Bar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._bar = Progress(
            TextColumn("kernel build"), BarColumn(), TaskProgressColumn(),
            TextColumn("{task.description}"), console=Console(file=sys.stderr), transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=1.0)
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self, done: float, what: str) -> None:
        self._bar.update(self._task, completed=done, description=what)
