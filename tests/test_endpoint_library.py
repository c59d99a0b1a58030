"""Transport libraries in files: the digested code is the code that runs, and bad libraries."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from sojourn import _core
from sojourn.authoring import build
from sojourn.cli import main
from sojourn.endpoint import with_endpoints
from sojourn.errors import InputError
from sojourn.running.store import Store

TEMPLATE = Path(build.__file__).parent / "endpoint_template" / "endpoint.c"
EXAMPLES = Path(__file__).parent.parent / "examples" / "endpoints"
SCENARIO = """
name = "own"
duration = "4s"
warmup = "1s"
[links.bottleneck]
rate = "10mbit"
delay = "10ms"
queue = "codel"
[[flows]]
name = "download"
path = ["bottleneck"]
rtt = "40ms"
transport = "own"
app = { kind = "bulk" }
"""
OWN = {"own": "./libmine.so"}

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")


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


def refusal(*options: str) -> str:
    """The one sentence of a run that is refused."""
    command = [sys.executable, "-m", "sojourn", "run", "own.toml", "--endpoint", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("sojourn: error: ") == 1 and "Traceback" not in done.stderr
    return done.stderr.partition("sojourn: error: ")[2].strip()


def test_a_library_in_c_fills_the_link_and_its_digest_is_in_the_manifest(folder):
    compiled(folder)
    store = Store(folder / "store")
    first = sojourn.run("own.toml", endpoints=OWN, store=store)
    assert 8e6 < first.summary["class/download/goodput"] < 10e6
    assert not first.warnings
    named = first.manifest["sim"]["endpoints"]["own"]
    assert named.startswith("library:libmine.so sha256=")
    assert named.endswith(": mine 0.1.0: window=10")

    def other(text: str, **options):
        run = sojourn.run("own.toml", endpoints={"own": text}, store=store, **options)
        return run.manifest["sim"]["endpoints"]["own"], run.digest

    assert other("./libmine.so") == (named, first.digest)
    assert other("./libmine.so:window=20")[1] != first.digest
    compiled(folder, ("/ 2, 2 *", "/ 3, 2 *"))
    source, digest = other("./libmine.so")
    assert source != named and digest != first.digest


def test_a_transfer_over_a_library_is_complete(folder):
    compiled(folder)
    limited = SCENARIO.replace('kind = "bulk"', 'kind = "bulk", bytes = "100kB"')
    (folder / "own.toml").write_text(limited.replace("transport", 'start = "1s"\ntransport'))
    (transfer,) = sojourn.run("own.toml", endpoints=OWN).transfers.to_pylist()
    assert transfer["bytes"] == 100_000


def test_a_library_reports_the_bandwidth_that_it_estimates(folder):
    compiled(folder, ("stats->lost_bytes", "stats->estimate_bps = 5000000; stats->lost_bytes"))
    run = sojourn.run("own.toml", endpoints=OWN, sets={"record.flows": True})
    rows = run.rows("flow_states")
    assert {row["value"] for row in rows if row["var"] == "estimate"} == {5e6}


def test_many_flows_over_a_library_share_the_link(folder):
    compiled(folder)
    (folder / "own.toml").write_text(SCENARIO.replace("transport", "count = 8\ntransport"))
    summary = sojourn.run("own.toml", endpoints=OWN).summary
    # Go-back-N retransmits data that has arrived.
    assert 7e6 < summary["class/download/goodput"] < 10e6


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ((".abi = SOJOURN_ENDPOINT_ABI", ".abi = 9"),
         "is built for version 9 of sojourn_endpoint.h (128 bytes), this is version 2 (128 bytes)"),
        ((".size = sizeof(struct sojourn_endpoint)", ".size = 8"),
         "is built for version 2 of sojourn_endpoint.h (8 bytes)"),
        (("return &table", "return 0"),
         "sojourn_endpoint() returned no table"),
        (("*sojourn_endpoint(void)\n{", "*another(void);\nconst struct sojourn_endpoint"
          " *another(void)\n{"),
         "has no function sojourn_endpoint, so it is not a transport library"),
        ((".input = input,", ""), "its table has no function `input`; see sojourn_endpoint.h"),
        ((".output = output,", ""), "its table has no function `output`"),
        ((".version = \"0.1.0\",", ""), "its table has no version; it identifies a run"),
        (("info->carries = SOJOURN_ENDPOINT_UDP_PAYLOAD", "info->carries = 7"),
         "its datagrams carry 7"),
        (("info->settings = text", "info->flags = 8"), "has flags 0x8; see SOJOURN_ENDPOINT_ECN"),
        (("static uint64_t least", "__attribute__((constructor)) static void c(void) { abort(); }\n"
          "static uint64_t least"),
         "ends the process that loads it (signal 6); see what it does at its start (a constructor, "
         "sojourn_endpoint)"),
    ],
)  # fmt: skip
def test_a_library_that_is_none_or_for_another_version_is_refused(folder, change, sentence):
    compiled(folder, change)
    with pytest.raises((InputError, _core.ScenarioError), match=r"libmine\.so: ") as refused:
        with_endpoints(_core.Scenario.load(SCENARIO), OWN)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("own=./libno.so", "libno.so: no such library; `sojourn build` makes one"),
        ("own=libtext.so", "endpoint[own]: libtext.so: is not a shared library for this machine"),
        ("own=libcut.so", "endpoint[own]: libcut.so: is a part of a shared library only"),
        ("own=libmine.so:cc=x", "endpoint[own]: libmine.so: its only setting is `window`"),
        ("own=libmine.so:window=0", "libmine.so: window: write the number of datagrams, 1 to"),
        ("tcp=libmine.so", "endpoint[tcp]: no flows have this transport; known: own"),
    ],
)
def test_a_file_that_is_no_library_and_wrong_settings_are_refused(folder, text, sentence):
    compiled(folder)
    (folder / "libtext.so").write_text("not a library")
    (folder / "libcut.so").write_bytes((folder / "libmine.so").read_bytes()[:3000])
    assert sentence in refusal(text)


BEFORE = "    uint64_t offset = e->received;\n    int64_t length = 0;"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("= HEADER_BYTES + (size_t)length", "= 0"),
         "output: a datagram of 0 bytes; it may have 1 to 1472 on this path"),
        (("= HEADER_BYTES + (size_t)length", "= 70000"), "output: a datagram of 70000 bytes"),
        (("= HEADER_BYTES + (size_t)length", "= 1 << 30"),
         "output: a datagram of 1073741824 bytes"),
        (("    transmit->length", "    transmit->ecn = 3;\n    transmit->length"),
         "output: a datagram with CE"),
        (("    transmit->length", "    transmit->ecn = 4;\n    transmit->length"),
         "output: 4 is not an ECN field; see sojourn_endpoint.h"),
        (("return ((struct end *)end)->due_ns", "return end ? 0 : 1"),
         "deadline: still due after 1000 calls of expire at one instant"),
        (("    return SOJOURN_ENDPOINT_NONE", "    return 17"), "event: 17 is not an event"),
        (("    return SOJOURN_ENDPOINT_NONE", "    return SOJOURN_ENDPOINT_READABLE"),
         "event: more than 100000 events at one instant"),
        (("    return taken;", "    return bytes + 1;"), "write: "),
        (("read->bytes = e->unread", "read->bytes = 1u << 30"), "read: 1073741824 bytes, of "),
        (("    e->window_bytes = datagrams",
          '    host->fail(host->context, "no licence");\n    e->window_bytes = datagrams'),
         "endpoint[own]: no licence"),
        (("    *error = first_window", '    *error = "no route";\n    return 0;\n    (void)'
          "first_window"), "endpoint[own]: no route"),
    ],
)  # fmt: skip
def test_a_breach_of_the_contract_ends_the_run_with_one_sentence(folder, change, sentence):
    compiled(folder, change)
    with pytest.raises(_core.ScenarioError) as failed:
        sojourn.run("own.toml", endpoints=OWN)
    message = str(failed.value)
    assert message.startswith("endpoint[own]: ") and sentence in message


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("if (now_ns > 500000000) abort();", "it called abort()"),
        ("extern void _exit(int); if (now_ns > 500000000) _exit(0);", "it called _exit()"),
        ("if (now_ns > 500000000) *(volatile int *)8 = 1;", "it used memory that it does not have"),
        (
            "if (now_ns > 500000000) *(volatile char *)__builtin_alloca(64 << 20) = 1;",
            "it used memory that it does not have",
        ),
    ],
)
def test_a_library_that_ends_the_process_is_named_with_end_time_and_function(folder, line, why):
    compiled(folder, (BEFORE, f"{BEFORE}\n    {line}"))
    message = refusal("own=libmine.so")
    assert message.startswith("libmine.so: client at 0.500")
    assert f" s: output: {why}" in message and message.endswith("which ends the run")


def test_a_copy_of_the_process_that_a_library_makes_ends_with_its_call(folder):
    line = "extern int fork(void); static int once; if (!once++) fork();"
    compiled(folder, (BEFORE, f"{BEFORE}\n    {line}"))
    program = "import sojourn; sojourn.run('own.toml', endpoints={'own': 'libmine.so'}, store=None)"
    # The copy would keep the pipe open.
    command = [sys.executable, "-c", program]
    subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True)


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("while (now_ns > 500000000) ;", "it has not returned for 30 s, which ends the run"),
        ("extern int usleep(unsigned); if (now_ns > 500000000) usleep(900000);",
         "it sleeps or waits, in every call of 30 s; times are arguments, so let it return at"),
    ],
)  # fmt: skip
def test_calls_that_never_return_or_sleep_end_the_process_with_one_sentence(folder, line, why):
    compiled(folder, (BEFORE, f"{BEFORE}\n    {line}"))
    message = refusal("own=libmine.so")
    assert message.startswith("libmine.so: client at 0.5")
    assert f" s: output: {why}" in message


def test_an_end_of_the_process_elsewhere_is_not_blamed_on_the_library(folder):
    compiled(folder)
    program = (
        "import os, sojourn\nsojourn.run('own.toml', endpoints={'own': 'libmine.so'})\nos.abort()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == -6 and b"libmine" not in done.stderr


def test_a_library_without_ecn_is_refused_in_front_of_an_l4s_queue_and_where_ecn_is_on(folder):
    compiled(folder)
    (folder / "own.toml").write_text(SCENARIO.replace('"codel"', '"dualpi2"'))
    sentence = "mine 0.1.0: window=10 has no ECN, and links.bottleneck is an L4S queue; take a"
    assert sentence in refusal("own=libmine.so")
    (folder / "own.toml").write_text(SCENARIO.replace("transport", "ecn = true\ntransport"))
    assert "has no ECN, and flows[0] has ecn = true" in refusal("own=libmine.so")


def test_a_build_takes_the_libraries_and_flags_of_the_environment(folder, monkeypatch):
    monkeypatch.setenv("CFLAGS", '-DMARK=\\"with-zlib\\"')
    monkeypatch.setenv("LDLIBS", "-Wl,--no-as-needed -lpthread -ldl")
    compiled(folder, ('.version = "0.1.0"', ".version = MARK"))
    result = sojourn.run("own.toml", endpoints=OWN)
    assert ": mine with-zlib: " in result.manifest["sim"]["endpoints"]["own"]
    monkeypatch.setenv("LDLIBS", "-lno-such-library")
    with pytest.raises(InputError, match="no-such-library"):
        compiled(folder)


def test_a_check_of_the_template_prints_every_promise_and_saves_them(folder, capsys):
    compiled(folder)
    assert main(["check", "libmine.so", "--quick", "--out", "check"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\nholds ") + shown.startswith("holds ") == 6 and shown.count("\n-  ") == 3
    assert " in 3 processes with other addresses, environment" in shown
    facts = json.loads((folder / "check" / "check.json").read_text())
    assert facts["kept"] and facts["source"].startswith("library:libmine.so sha256=")


SIZE = "    return length < e->payload_bytes"
INCLUDE = "#include <string.h>"


@pytest.mark.parametrize(
    ("line", "include", "reason"),
    [
        ("uint8_t r; getrandom(&r, 1, 0); length -= r % 32;", "#include <sys/random.h>",
         "It reads a clock or draws random numbers of the system; take the seed. Its file names "
         "getrandom."),
        ('length -= strlen(getenv("SOJOURN_CHECK") ? getenv("SOJOURN_CHECK") : "") % 32;', "",
         "Processes with the same addresses and environment agree, so it depends on addresses"),
    ],
)  # fmt: skip
def test_a_check_finds_entropy_of_the_system_with_the_reason(folder, capsys, line, include, reason):
    if "same addresses" in reason and shutil.which("setarch") is None:
        pytest.skip("setarch, which fixes addresses, is not installed")
    full = f"    if (length == e->payload_bytes) {{ {line} }}\n"
    compiled(folder, (SIZE, full + SIZE), (INCLUDE, f"{INCLUDE}\n{include}"))
    assert main(["check", "libmine.so"]) == 1
    shown = capsys.readouterr().out
    assert "BROKEN  processes with different entropy give one digest" in shown
    assert "of 6 processes. " + reason in shown


def has_ngtcp2() -> bool:
    command = ["pkg-config", "--exists", "libngtcp2_crypto_gnutls"]
    if shutil.which("pkg-config") is None:
        return False
    return subprocess.run(command, check=False).returncode == 0


@pytest.mark.skipif(not has_ngtcp2(), reason="ngtcp2 is not installed")
def test_the_example_of_ngtcp2_builds_and_its_adapter_is_sound(folder, capsys, monkeypatch):
    shutil.copy(EXAMPLES / "ngtcp2.c", folder)
    command = ["pkg-config", "--cflags", "--libs", "libngtcp2_crypto_gnutls", "gnutls"]
    monkeypatch.setenv("LDLIBS", subprocess.check_output(command, text=True))
    assert main(["build", "ngtcp2.c"]) == 0
    for control in ("cubic", "bbr"):
        assert main(["check", f"libngtcp2.so:cc={control}", "--quick"]) == 0, capsys.readouterr()
    refused = refusal("own=libngtcp2.so:cc=vegas")
    assert "its only setting is cc: cubic, reno, bbr or bbr2" in refused


def test_options_of_laws_are_refused_for_a_transport_library(folder, capsys):
    compiled(folder)
    for option in ("--operations", "--jobs"):
        assert main(["check", "libmine.so", option, "7"]) == 2
        assert "--operations and --jobs are for laws." in capsys.readouterr().err


def test_a_check_of_an_adapter_that_breaks_the_contract_says_where(folder, capsys):
    compiled(folder, ("= HEADER_BYTES + (size_t)length", "= HEADER_BYTES + 1600"))
    assert main(["check", "libmine.so", "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert not finding["held"] and "a datagram of 1610 bytes" in finding["detail"]
