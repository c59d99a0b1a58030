"""Random numbers and times of a guest depend on the seed, not on programs before the run."""

from __future__ import annotations

import ctypes
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import sojourn
from guests import needs_kernel, on_linux
from sojourn import _core
from sojourn.engines.child import Folder
from sojourn.engines.linux import guest, kernel
from sojourn.engines.linux.kernel import changes

TEXT = """
name = "seeds"
duration = "3s"
warmup = "1s"
[record]
packets = true
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "{queue}"
[[flows]]
count = 2
path = ["bottleneck"]
rtt = "40ms"
cc = "cubic"
app = {{ kind = "bulk" }}
[[flows]]
path = ["bottleneck"]
rtt = "40ms"
app = {{ kind = "web", reading = "300ms" }}
"""
ARED = "ared@linux:limit=150kB,min_th=3kB,max_th=9kB,hz=1000"
# A program that reads the clock, draws, sleeps and writes for 0.1 s of 10 s of the guest's clock.
BUSY = """
import os, time
for _ in range(98_765):
    time.time()
for length in range(300):
    os.getrandom(length)
for _ in range(11):
    time.sleep(0.0012345)
"""


def _busy_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guest of every later run first executes BUSY in a separate process."""
    write = guest.write_script
    busy = shlex.join([str(Path(sys.executable).resolve()), "-I", "-S", "-c", BUSY])

    def with_busy(folder: Folder, place: str, before: Sequence[str] = ()) -> None:
        write(folder, place, [*before, busy, "echo done > /run/busy"])

    monkeypatch.setattr(guest, "write_script", with_busy)


@pytest.mark.slow
@needs_kernel
@pytest.mark.parametrize("release", ["6.1", "7.2"])
@pytest.mark.parametrize(
    "queue",
    [
        "fq_codel@linux",
        *(
            pytest.param(it, marks=pytest.mark.nightly)
            for it in ("taildrop:limit=50p", ARED, "sfb")
        ),
    ],
)
def test_what_a_guest_does_before_a_run_changes_no_packet(
    monkeypatch: pytest.MonkeyPatch, queue: str, release: str
) -> None:
    """Fact linux-35."""
    found = kernel.find(release=release)
    if found is None:
        pytest.skip(f"no Linux {release} for guests: sojourn kernel build --source {release}")
    given = _core.Scenario.load(TEXT.format(queue=queue))
    plain = _packets(given, found.path)
    _busy_before(monkeypatch)
    assert len(plain) > 1000
    assert _packets(given, found.path) == plain


def _packets(given: _core.Scenario, own: Path) -> list[dict[str, Any]]:
    run = on_linux(given, _core.Cancel(), own)
    assert run.invalid == []
    return sojourn.Result(run).table("packets").to_pylist()


STUB = """
#define __init
#define __uml_setup(option, function, help) int set_up(char *text) { return function(text, 0); }
/* Otherwise reading the cycle counter would end this process. */
#define prctl(option, value) 0
"""
Draw = Callable[[int, int, int, bool], bytes]


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """Bytes of the kernel's random numbers, by seed, second, number, and whether for programs."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no compiler: apt-get install gcc libc6-dev")
    for name in ("init.h", "os.h"):
        (tmp_path / name).write_text(STUB if name == "init.h" else "")
    source = next(path for path in changes.OURS if path.name == "rngseed_user.c")
    made = tmp_path / "rngseed.so"
    subprocess.run([compiler, "-shared", "-fPIC", f"-I{tmp_path}", "-o", made, source], check=True)
    library = ctypes.CDLL(str(made))

    def drawn(seed: int, second: int, count: int, for_programs: bool = False) -> bytes:
        buffer = ctypes.create_string_buffer(count)
        library.set_up(str(seed).encode())
        now_ns = ctypes.c_ulonglong(second * 1_000_000_000 + 999_999_999)
        library.rng_of_second(buffer, ctypes.c_size_t(count), now_ns, int(for_programs))
        return buffer.raw

    return drawn


def test_no_two_seeds_draw_the_same_numbers_in_any_seconds(draw: Draw) -> None:
    """Seed 2 in second 3 once drew the numbers of seed 1 in second 0: the seed was not mixed."""
    # The second changes with every draw, because the random numbers restart every second.
    seeds, seconds, kinds = range(64), range(1, 65), (False, True)
    firsts = {
        draw(seed, second, 8, for_programs)
        for for_programs in kinds for seed in seeds for second in seconds
    }  # fmt: skip
    assert len(firsts) == 64 * 64 * 2


def test_a_second_starts_fresh_whatever_was_drawn_before(draw: Draw) -> None:
    first = draw(7, 1, 8)
    draw(7, 2, 640)
    draw(7, 3, 64, for_programs=True)
    assert draw(7, 1, 8) == first


def test_what_programs_draw_moves_no_number_of_the_kernel(draw: Draw) -> None:
    draw(7, 2, 8)
    second = draw(7, 2, 8)
    draw(7, 1, 8)
    draw(7, 2, 8)
    draw(7, 2, 333, for_programs=True)
    assert draw(7, 2, 8) == second


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_shorter_number_is_the_upper_part_of_one_draw(draw: Draw, count: int) -> None:
    whole = draw(7, 2, 8)
    draw(7, 1, 8)
    assert draw(7, 2, count) == whole[8 - count :]
