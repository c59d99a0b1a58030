"""Checks wheels as their users get them, and writes what was found as a table.

    python tests/wheels.py dist/sojourn-*.whl

The table has for every wheel its platform, the newest symbol of glibc that it needs, whether it has
the page of `sojourn live`, and its size. A wheel of this machine's platform is installed into an
empty environment, where it runs, compares and saves its page; wheels of other platforms are not
run. Their checksums go to standard error.
"""

import hashlib
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = "sojourn/live/page/sojourn-live.html"
LARGEST_MB = 250
GLIBC = re.compile(rb"GLIBC_(\d+)\.(\d+)")
ALLOWED = {"manylinux2014": (2, 17), "manylinux_2_17": (2, 17)}
HEADING = "| platform | newest GLIBC | page | size | environment | digest | seconds |"


def newest_glibc(library: bytes) -> tuple[int, int] | None:
    """The newest version of glibc's symbols that a library needs."""
    return max(((int(a), int(b)) for a, b in GLIBC.findall(library)), default=None)


def expected_digest() -> str:
    record = (ROOT / "testdata" / "fingerprints.txt").read_text(encoding="utf-8")
    return re.search(r"^dumbbell-cubic as-shipped (\w+)$", record, re.MULTILINE)[1]


def check(wheel: Path) -> str:
    """The row of a wheel; ends the program if the wheel is not as required."""
    tag = wheel.stem.split("-", 4)[4]
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        library = next(
            name for name in names if re.fullmatch(r"sojourn/_core\.(abi3\.so|pyd)", name)
        )
        newest = newest_glibc(content.read(library))
    assert "-abi3-" in wheel.name, f"{wheel.name} is not abi3"
    assert PAGE in names, f"{wheel.name} has no page: run `make web` first"
    for name, bound in ALLOWED.items():
        assert name not in tag or newest <= bound, f"{wheel.name} needs GLIBC {newest}"
    assert "musllinux" not in tag or newest is None, f"{wheel.name} needs glibc"
    symbol = "none" if newest is None else ".".join(map(str, newest))
    ran = run(wheel) if is_ours(tag) else "not run | not run | |"
    size_mb = wheel.stat().st_size / 1e6
    return f"| `{tag.split('.')[0]}` | {symbol} | yes | {size_mb:.1f} MB | {ran}"


def is_ours(tag: str) -> bool:
    """Whether this machine runs wheels of a platform."""
    if sys.platform == "win32":
        return tag == "win_amd64"
    linux = "manylinux" if platform.libc_ver()[0] == "glibc" else "musllinux"
    kind = "macosx" if sys.platform == "darwin" else linux
    return kind in tag and tag.endswith(platform.machine())


def run(wheel: Path) -> str:
    """Install a wheel into an empty environment and use it there."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        began = time.monotonic()
        call(sys.executable, "-m", "venv", place / "empty")
        programs = place / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
        python, command = programs / "python", programs / "sojourn"
        call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        size_mb = sum(path.lstat().st_size for path in (place / "empty").rglob("*")) / 1e6
        assert size_mb <= LARGEST_MB, f"an environment with {wheel.name} has {size_mb:.0f} MB"
        made = call(command, "run", "dumbbell-cubic", "--set", "duration=30s", "--fresh", "--json")
        digest = json.loads(made)["digest"]
        assert digest == expected_digest(), f"dumbbell-cubic gives {digest}"
        compared = ["--seeds", "2", "--set", "duration=5s", "--set", "warmup=0s"]
        aqms = ["--aqm", "codel,pie", *compared]
        call(command, "compare", "traffic-mix", *aqms, "--out", place / "out")
        assert (place / "out/report.html").stat().st_size > 0
        call(command, "live", "traffic-mix", "--no-open", "--save", place / "live.html")
        assert (place / "live.html").stat().st_size > 1_000_000
        took_s = time.monotonic() - began
    return f"{size_mb:.0f} MB | equal | {took_s:.0f} |"


def call(*command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def main(wheels: list[str]) -> None:
    print(HEADING)
    print("|---|---|---|---|---|---|---|")
    for wheel in sorted(map(Path, wheels)):
        print(check(wheel), flush=True)
    for wheel in sorted(map(Path, wheels)):
        print(f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
