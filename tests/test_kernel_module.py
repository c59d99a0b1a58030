"""Our AQMs as a kernel module: compiled, loaded in the guest, equal to the kernel's own, refused.

Tests that need the guest kernel or a compiler for the module are skipped without it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from guests import KERNEL, in_guest, needs_kernel
from sojourn import _core
from sojourn.engines.linux import kernel
from sojourn.engines.linux.kernel import module, module_tree, rust
from sojourn.errors import InputError, RunFailed

ROOT = Path(__file__).parents[1]
TC_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
COMPILERS = kernel.cache().parent / "rust"
CAN_COMPILE = KERNEL is not None and rust.find(COMPILERS) is not None
needs_module = pytest.mark.skipif(
    not CAN_COMPILE, reason="no compiler for kernel modules: sojourn kernel toolchain"
)
TEXT = """
name = "module"
duration = "4s"
warmup = "1s"
[record]
packets = true
[engine.linux]
where = "{where}"
bottleneck = "{bottleneck}"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "{queue}"
[[flows]]
count = 4
path = ["bottleneck"]
rtt = "40ms"
tcp = "linux"
cc = "reno"
app = {{ kind = "bulk" }}
"""


def scenario(bottleneck: str, queue: str = "codel@linux", where: str = "guest") -> _core.Scenario:
    return _core.Scenario.load(TEXT.format(bottleneck=bottleneck, queue=queue, where=where))


@pytest.fixture(scope="module")
def compiled() -> Path:
    """The module for the guest kernel, compiled unless it is there."""
    assert KERNEL is not None, "what needs it is skipped otherwise"
    folder = KERNEL.path.parent
    return module.find(folder) or module.build(module.of_guest(folder), COMPILERS)


@needs_module
@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("queue", ["taildrop:limit=50p", "codel@linux"])
def test_every_packet_fares_as_under_the_kernels_own(compiled: Path, queue: str) -> None:
    own, ours = (in_guest(scenario(each, queue)) for each in ("kernel", module.BOTTLENECK))
    assert own.packets_handled > 3000
    assert own.digest == ours.digest


@needs_module
@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("queue", "flows"), [("red@linux", 1), ("cake", 2), ("fq_pie@linux:hz=1000", 2), ("sfb", 16)]
)
def test_laws_that_draw_fare_as_under_the_kernels_own(
    compiled: Path, queue: str, flows: int
) -> None:
    """Facts linux-9 and linux-11 to linux-13."""
    oracle = _oracle()
    oracle.SECONDS[10] = 4
    found = oracle.outcome(oracle.Case(queue, flows, 10))
    assert len(found.kernel.packets) > 2000
    assert found.kernel.drops > 0
    assert found.first is None


@needs_module
@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.slow
def test_the_report_of_the_module_accounts_for_every_drop(compiled: Path) -> None:
    run = in_guest(scenario(module.BOTTLENECK, "madpie:target=15ms"))
    facts: dict[str, Any] = json.loads(run.manifest_json())["linux"]
    report = facts["module"]
    assert report["aqm"].startswith("madpie:target=15ms")
    router = next(row for row in facts["qdiscs_after"]["router"] if row["kind"] == "sojourn")
    assert sum(report["drops"].values()) == router["drops"] > 0
    assert "drop_prob" in report["vars"]


@needs_module
@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.slow
def test_a_module_for_another_kernel_is_refused_with_the_kernels_words(
    compiled: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / module.NAME
    other.write_bytes(compiled.read_bytes().replace(b"vermagic=6.", b"vermagic=7."))
    monkeypatch.setattr(module, "require", lambda _folder: other)
    with pytest.raises(RunFailed, match="version magic") as error:
        in_guest(scenario(module.BOTTLENECK))
    assert "sojourn kernel module" in str(error.value)


@needs_kernel
def test_a_module_of_other_sources_or_none_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no module is built for the kernel in "):
        module.require(tmp_path)
    (tmp_path / module.NAME).write_bytes(b"a module")
    about = {"sources": "others", "sha256": module._digest(b"a module")}
    (tmp_path / "sch_sojourn.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match="was made from other sources than"):
        module.require(tmp_path)
    (tmp_path / module.NAME).write_bytes(b"half")
    with pytest.raises(InputError, match="is damaged"):
        module.require(tmp_path)


@pytest.mark.parametrize(
    ("folder", "release", "hz", "command"),
    [
        ("6.1.192-2-1000hz-0", "6.1", 1000, "sojourn kernel module`"),
        ("7.2.13-250hz-0", "7.2", 250, "sojourn kernel module --release 7.2 --hz 250`"),
        ("6.1.192-2-1000hz-debug-0", "6.1", 1000, "sojourn kernel module --debug`"),
    ],
)
def test_a_missing_module_is_refused_with_the_command_for_its_kernel(
    tmp_path: Path, folder: str, release: str, hz: int, command: str
) -> None:
    program = tmp_path / folder / kernel.PROGRAM
    program.parent.mkdir()
    program.write_bytes(b"uml_dir=")
    program.chmod(0o755)
    about = {"version": f"{release}.9", "hz": hz, "configuration": "",
             "source": f"linux-source-{release}.tar.xz, SHA-256 0"}  # fmt: skip
    (program.parent / "about.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"no module is built for the kernel in .*; ") as error:
        module.require(program.parent)
    assert f"`{command} makes it" in str(error.value)


@needs_kernel
@pytest.mark.parametrize("where", ["host", "uml"])
def test_a_module_is_loaded_in_a_guest_only(where: str) -> None:
    with pytest.raises(InputError, match='set where = "guest"'):
        in_guest(scenario(module.BOTTLENECK, where=where))


def test_a_kernel_without_headers_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no headers of its kernel"):
        module.of_guest(tmp_path)
    with pytest.raises(InputError, match="are not the headers of a kernel"):
        module.of_headers(tmp_path, tmp_path)


def test_a_module_for_headers_lies_under_the_release_that_its_kernel_reports(
    tmp_path: Path,
) -> None:
    """Debian's headers of 6.1.0-56 have `6.1.192` in include/config/kernel.release."""
    for name, text in (
        ("config/kernel.release", "6.1.192\n"),
        ("generated/utsrelease.h", '#define UTS_RELEASE "6.1.0-56-amd64"\n'),
    ):
        file = tmp_path / "include" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    target = module.of_headers(tmp_path, tmp_path / "cache")
    assert target.folder.name == "module-6.1.0-56-amd64"


def test_without_a_compiler_both_ways_to_one_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(rust, "find", lambda _folder: None)
    with pytest.raises(InputError, match="sojourn kernel toolchain") as error:
        module.build(module.Target(tmp_path, "um", tmp_path), tmp_path)
    assert "rustup component add rust-src" in str(error.value)


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("tc", path=TC_PATH) is None,
    reason="no gcc, or no tc",
)
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "the AQM is missing"),
        ("aqm codel seed x", '"seed x" is not understood'),
        ("aqm codel rate", '"rate" is not understood'),
        ("help", "Usage: ... sojourn aqm TEXT"),
    ],
)
def test_tc_says_what_it_does_not_understand(tmp_path: Path, words: str, says: str) -> None:
    source, plugin = ROOT / "kmod" / "q_sojourn.c", tmp_path / module.TC_WORDS
    subprocess.run(["gcc", *module.WORDS_FLAGS, "-Werror", "-o", plugin, source], check=True)
    asked = ["tc", "qdisc", "add", "dev", "lo", "root", "sojourn", *words.split()]
    environment = {"PATH": TC_PATH, "TC_LIB_DIR": str(tmp_path)}
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    assert says in done.stderr
    assert done.returncode != 0


def test_what_is_kept_of_a_kernel_is_what_modules_need(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "kept"
    names = [
        ".config", "Makefile", "Module.symvers", "include/net/pkt_sched.h", "scripts/mod/modpost",
        "arch/um/Makefile", "arch/um/kernel/process.c", "net/sched/sch_codel.c",
    ]  # fmt: skip
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    (source / "arch/x86").mkdir()
    module_tree.keep(source, folder)
    kept = {str(path.relative_to(folder / "build")) for path in (folder / "build").rglob("*")
            if path.is_file()}  # fmt: skip
    assert kept == {*names[:6]}


@pytest.mark.parametrize("release", ["6.1", "7.2"])
def test_the_page_of_the_oracle_says_what_its_table_shows(release: str) -> None:
    oracle = _oracle()
    page = oracle.PAGE.read_text(encoding="utf-8").split(oracle.BEGIN.format(release))[1]
    head, _, *rows = page.split(oracle.END.format(release))[0].strip().splitlines()
    assert rows[0] == oracle.HEAD
    cells = [row.strip("| ").split(" | ") for row in rows[2:]]
    shown = [(queue.strip("`"), int(flows), f"{rate}") for queue, flows, rate, *_ in cells]
    grid = [
        (case.queue, case.flows, f"{case.rate} Mbit/s") for case in oracle.cases(release=release)
    ]
    assert shown == [case for case in grid if case in shown]
    assert shown
    equal = sum(row[-1] == "equal" for row in cells)
    version = head.removeprefix("Linux ").split(":")[0]
    assert head == oracle.sentence(version, len(cells), equal, release)


def _oracle() -> ModuleType:
    spec = spec_from_file_location("oracle_measure", ROOT / "tests" / "oracle" / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made
