"""Packages the published crates and tests each from its package; prints a table.

    python tests/crates.py

The crates are those of ``[workspace.dependencies]`` with a version. Publishing them is tried
without an upload. Their packages are unpacked into a workspace outside this one, in which they
replace those of crates.io.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
UNPACKED = ROOT / "out" / "crates"
NEEDED = ("README.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.toml.orig")
LARGEST_BYTES = 10_000_000  # The limit of crates.io.
QUICK = {
    "SOJOURN_OPERATIONS": "100000",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
}


def published(manifest: dict) -> list[str]:
    """The published crates: those that others depend on by version."""
    known = manifest["workspace"]["dependencies"]
    return [
        name
        for name, entry in known.items()
        if isinstance(entry, dict) and {"path", "version"} <= entry.keys()
    ]


def package(names: list[str]) -> None:
    chosen = [word for name in names for word in ("--package", name)]
    for command in (["publish", "--dry-run"], ["package"]):
        subprocess.run(
            ["cargo", *command, "--quiet", "--no-verify", "--allow-dirty", *chosen],
            cwd=ROOT,
            check=True,
        )


def unpack(archive: Path) -> None:
    """Unpacks a package and checks its size and the files that its users look for."""
    assert archive.stat().st_size < LARGEST_BYTES, f"{archive.name} is too large for crates.io"
    with tarfile.open(archive) as content:
        content.extractall(UNPACKED, filter="data")
    folder = UNPACKED / archive.name.removesuffix(".crate")
    for name in NEEDED:
        file = folder / name
        assert file.is_file() and not file.is_symlink(), f"{archive.name} has no {name}"


def write_workspace(folders: dict[str, str]) -> None:
    members = ", ".join(f'"{folder}"' for folder in folders.values())
    patches = "".join(f'{name} = {{ path = "{folder}" }}\n' for name, folder in folders.items())
    text = f'[workspace]\nresolver = "3"\nmembers = [{members}]\n\n[patch.crates-io]\n{patches}'
    (UNPACKED / "Cargo.toml").write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", UNPACKED)


def passed(name: str) -> int:
    """The number of tests of a crate that pass in its package; ends the program if one fails."""
    ran = subprocess.run(
        ["cargo", "test", "--package", name, "--all-features"],
        cwd=UNPACKED,
        env={**os.environ, **QUICK, "CARGO_TARGET_DIR": str(UNPACKED / "target")},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        sys.exit(f"{name}:\n{ran.stdout}\n{ran.stderr}")
    return sum(map(int, re.findall(r"^test result: ok\. (\d+) passed", ran.stdout, re.MULTILINE)))


def main() -> None:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["workspace"]["package"]["version"]
    folders = {name: f"{name}-{version}" for name in published(manifest)}
    package(list(folders))
    shutil.rmtree(UNPACKED, ignore_errors=True)
    UNPACKED.mkdir(parents=True)
    archives = {name: TARGET / "package" / f"{folder}.crate" for name, folder in folders.items()}
    for archive in archives.values():
        unpack(archive)
    write_workspace(folders)
    print("| crate | package | tests passed in it |", "|---|---|---|", sep="\n")
    for name, archive in archives.items():
        tests = passed(name)
        assert tests > 0, f"{name} has no test in its package"
        print(f"| `{name}` | {archive.stat().st_size / 1000:.0f} kB | {tests} |", flush=True)
    for field in ("repository", "homepage"):
        if not manifest["workspace"]["package"][field]:
            print(f"Cargo.toml: {field} in [workspace.package] is empty", file=sys.stderr)


if __name__ == "__main__":
    main()
