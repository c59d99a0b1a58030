"""Transport libraries as processes: the clock and the random numbers are the simulator's."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import sojourn
from sojourn import _core
from sojourn.authoring import build
from sojourn.cli import main
from sojourn.errors import InputError

TEMPLATE = Path(build.__file__).parent / "endpoint_template" / "endpoint.c"
EXAMPLES = Path(__file__).parent.parent / "examples" / "endpoints"
# The folder of quiche's crate, built as examples/endpoints/quiche.c says.
QUICHE = os.environ.get("QUICHE")
SCENARIO = """
name = "own"
duration = "3s"
warmup = "0s"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "codel"
[[flows]]
name = "download"
count = 2
path = ["bottleneck"]
rtt = "40ms"
transport = "own"
app = { kind = "bulk" }
"""
LIBRARY = {"own": "./libmine.so"}
PROCESS = {"own": "process:./libmine.so"}
SIZE = "    return length < e->payload_bytes"
INCLUDE = "#include <string.h>"
HEADERS = "#include <fcntl.h>\n#include <sys/random.h>\n#include <sys/time.h>\n#include <time.h>\n"
BEFORE = "    uint64_t offset = e->received;\n    int64_t length = 0;"
# One number from every source of time and randomness that is replaced in a process.
DRAW = """
#include <sys/syscall.h>
#include <unistd.h>
int RAND_bytes(unsigned char *, int) __attribute__((weak));
static unsigned draw(void)
{
    unsigned sum = 0, r = 0;
    struct timespec now;
    struct timeval day;
    FILE *file;
    int fd;
    clock_gettime(CLOCK_MONOTONIC, &now), sum += now.tv_nsec / 16;
    clock_gettime(CLOCK_REALTIME, &now), sum += now.tv_nsec / 16 + now.tv_sec;
    gettimeofday(&day, NULL), sum += day.tv_usec;
    sum += time(NULL) + clock() + getpid();
    getrandom(&r, sizeof r, 0), sum += r;
    getentropy(&r, sizeof r), sum += r;
    syscall(SYS_getrandom, &r, sizeof r, 0), sum += r;
    if (RAND_bytes) RAND_bytes((unsigned char *)&r, sizeof r), sum += r;
    fd = open("/dev/urandom", O_RDONLY), fd < 0 || read(fd, &r, sizeof r) < 0 ? abort() : 0;
    close(fd), sum += r;
    file = fopen("/dev/random", "rb"), fread(&r, sizeof r, 1, file) == 1 ? 0 : abort();
    fclose(file);
    return sum + r;
}
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(folder: Path, *changes: tuple[str, str]) -> None:
    """The template with changes, as libmine.so."""
    text = TEMPLATE.read_text().replace("@NAME@", "mine")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (folder / "mine.c").write_text(text)
    build.build(folder / "mine.c")


def digest(endpoints: dict[str, str]) -> str:
    return sojourn.run("own.toml", endpoints=endpoints, store=None).digest


def left_behind() -> list[str]:
    """Children of this process that run a transport library."""
    children = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread may end meanwhile
            names = (task / "children").read_text().split()
            children += [Path("/proc", child, "cmdline") for child in names]
    return [str(file) for file in children if b"/fd/" in file.read_bytes()]


def test_a_library_gives_the_same_packets_in_processes_as_within_the_simulator(folder):
    compiled(folder)
    run = sojourn.run("own.toml", endpoints=PROCESS, store=None)
    assert run.digest == digest(LIBRARY)
    named = run.manifest["sim"]["endpoints"]["own"]
    assert named.startswith("process:libmine.so sha256=")
    assert named.endswith(": mine 0.1.0: window=10")
    assert digest({"own": "process:libmine.so:window=20"}) != run.digest
    assert left_behind() == []


def test_time_and_chance_of_the_system_are_the_simulators_in_a_process(folder):
    """The environment, the addresses, the time and the entropy of the processes differ."""
    sizes = f"    if (length == (int64_t)e->payload_bytes) length -= draw() % 32;\n{SIZE}"
    compiled(folder, (SIZE, sizes), (INCLUDE, INCLUDE + "\n" + HEADERS + DRAW))
    run = f"sojourn.run('own.toml', endpoints={PROCESS}, store=None)"
    program = f"import sojourn\nprint({run}.digest)"
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "TZ": "XYZ-5:30", "MORE": "x" * 3000, "MALLOC_PERTURB_": "85"},
    ).stdout.strip()  # fmt: skip
    assert digest(PROCESS) == digest(PROCESS) == other
    assert len({digest(LIBRARY) for _ in range(3)}) == 3
    (folder / "own.toml").write_text(SCENARIO.replace('name = "own"', 'name = "own"\nseed = 2'))
    assert digest(PROCESS) != other


def test_a_check_of_a_process_finds_what_it_cannot_replace(folder, capsys):
    if platform.machine() != "x86_64":
        pytest.skip("reads the counter of x86 processors")
    compiled(folder)
    assert main(["check", "process:libmine.so", "--quick"]) == 0, capsys.readouterr()
    assert "in 3 processes with other addresses, environment" in capsys.readouterr().out
    counter = "length -= __builtin_ia32_rdtsc() / 64 % 32;"
    full = f"    if (length == (int64_t)e->payload_bytes) {counter}\n"
    compiled(folder, (SIZE, full + SIZE))
    assert main(["check", "process:libmine.so", "--quick"]) == 1
    shown = capsys.readouterr().out
    assert "not repeatable: 3 digests of 3 processes. It reads the processor's counters or" in shown


def test_a_program_may_contain_its_library(folder):
    compiled(folder)
    (folder / "sojourn_process.c").write_text(_core.endpoint_process())
    command = ["cc", "-rdynamic", f"-I{build.INCLUDE}", "mine.c", "sojourn_process.c", "-o", "mine"]
    subprocess.run([*command, "-ldl", "-lm"], check=True)
    assert digest({"own": "process:./mine:window=12"}) == digest({"own": "libmine.so:window=12"})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("abort();", "its process ended: it called abort()"),
        ("exit(3);", "its process ended with code 3"),
        ("*(volatile int *)8 = 1;", "its process ended: it used memory that it does not have"),
        ("transmit->length = 0; return 1;", "a datagram of 0 bytes; it may have 1 to 1472 on this"),
        ("transmit->length = 70000; return 1;", "a datagram of 70000 bytes; it may have 1 to 1472"),
        ("transmit->length = 1 << 30; return 1;", "a datagram of 1073741824 bytes"),
        ("transmit->length = 9; return 1;", "more than 100000 datagrams at one instant"),
    ],
)
def test_a_process_that_breaks_the_contract_ends_the_run_with_one_sentence(folder, line, sentence):
    compiled(folder, (BEFORE, f"{BEFORE}\n    if (now_ns > 500000000) {{ {line} }}"))
    with pytest.raises(_core.ScenarioError) as failed:
        digest(PROCESS)
    assert str(failed.value).startswith("endpoint[own]: flows `download`, flow ")
    assert sentence in str(failed.value)
    assert left_behind() == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("*sojourn_endpoint(void)\n{", "*another(void);\nconst struct sojourn_endpoint"
          " *another(void)\n{"), "libmine.so: has no function sojourn_endpoint"),
        ((".abi = SOJOURN_ENDPOINT_ABI", ".abi = 9"),
         "libmine.so: is built for version 9 of sojourn_endpoint.h (128 bytes), this is version 2"),
        ((".input = input,", ""), "libmine.so: its table has no function `input`; see"),
        (("info->carries = SOJOURN_ENDPOINT_UDP_PAYLOAD", "info->carries = 7"),
         "libmine.so: its datagrams carry 7"),
        (("static uint64_t least", "__attribute__((constructor)) static void c(void) { abort(); }\n"
          "static uint64_t least"), "libmine.so: its process ended: it called abort()"),
        (("    *error = first_window", '    *error = "no route";\n    return 0;\n    (void)'
          "first_window"), "endpoint[own]: no route"),
        (("    e->window_bytes = datagrams",
          '    host->fail(host->context, "no licence");\n    e->window_bytes = datagrams'),
         "endpoint[own]: no licence"),
    ],
)  # fmt: skip
def test_a_library_that_does_not_fit_is_refused_from_its_process(folder, change, sentence):
    compiled(folder, change)
    with pytest.raises(_core.ScenarioError) as refused:
        digest(PROCESS)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("process:./no.so", "no.so: no such library; `sojourn build` makes one"),
        ("process:libtext.so", "libtext.so: is not a shared library for this machine"),
        ("process:./libmine.so:cc=x", "libmine.so: its only setting is `window`"),
        ("process:/bin/false", "false: its process ended with code 1"),
    ],
)
def test_a_file_that_cannot_be_a_process_is_refused(folder, text, sentence):
    compiled(folder)
    (folder / "libtext.so").write_text("not a library")
    with pytest.raises((InputError, _core.ScenarioError), match=r".") as refused:
        digest({"own": text})
    assert sentence in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.skipif(QUICHE is None, reason="QUICHE does not name the folder of a built quiche")
def test_the_example_of_quiche_builds_and_its_adapter_is_sound(folder, capsys, monkeypatch):
    shutil.copy(EXAMPLES / "quiche.c", folder)
    monkeypatch.setenv("CFLAGS", f"-I{QUICHE}/include")
    monkeypatch.setenv("LDLIBS", f"{QUICHE}/target/release/libquiche.a -lstdc++")
    assert main(["build", "quiche.c"]) == 0
    assert main(["check", "process:libquiche.so:cc=bbr2", "--quick"]) == 0, capsys.readouterr()
    digests = [digest({"own": f"process:libquiche.so{cc}"}) for cc in ("", ":cc=cubic", ":cc=reno")]
    assert digests[0] == digests[1] != digests[2]
    for text, sentence in (
        ("libquiche.so", "quiche reads the clock itself; write process: before the file"),
        ("process:libquiche.so:cc=vegas", "its only setting is cc: cubic, reno or bbr2"),
    ):
        with pytest.raises((InputError, _core.ScenarioError), match=sentence):
            digest({"own": text})
    (folder / "own.toml").write_text(SCENARIO.replace('"codel"', '"dualpi2"'))
    with pytest.raises((InputError, _core.ScenarioError), match="has no ECN"):
        digest({"own": "process:libquiche.so"})
