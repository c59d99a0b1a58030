"""The simulator as WebAssembly, and the page that `sojourn live` serves."""

from __future__ import annotations

import base64
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zlib
from pathlib import Path

import pytest

from sojourn.errors import InputError, ScenarioError
from sojourn.live import page
from sojourn.live.server import server

ROOT = Path(__file__).parents[1]
NO_COMPILER = 3


@pytest.mark.slow
def test_every_digest_on_record_is_that_of_webassembly() -> None:
    if shutil.which("node") is None:
        pytest.skip("no node; install the package nodejs")
    if not (ROOT / "web" / "node_modules").is_dir():
        pytest.skip("the page was not built; run `make web`")
    built = subprocess.run(
        ["sh", "web/wasm.sh"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if built.returncode == NO_COMPILER:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr
    tested = subprocess.run(
        ["node", "--test", "web/tests/equality.test.mjs"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout[-3000:]


@pytest.mark.slow
def test_every_shipped_scenario_has_its_digest_in_chromium_without_an_error() -> None:
    missing = [name for name in ("node", "chromium") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"no {missing[0]}; install its package")
    compiled, served = ROOT / "target/web/sojourn.wasm", page.FOLDER / "sojourn.wasm"
    if not compiled.is_file() or not served.is_file():
        pytest.skip("the page was not built; run `make web`")
    if compiled.read_bytes() != served.read_bytes():
        pytest.skip("the page is older than the simulator; run `make web`")
    tested = subprocess.run(
        ["node", "--test", "--test-reporter", "tap", "--test-name-pattern", "digest in Chromium",
         "web/tests/browser.test.mjs"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout[-3000:]
    assert "# pass 1" in tested.stdout


@pytest.mark.slow
def test_the_page_in_one_file_is_written_with_an_address_that_opens_it(tmp_path: Path) -> None:
    (tmp_path / "sojourn.wasm").write_bytes(b"\0asm")
    (tmp_path / page.ONE_FILE).write_text("<head></head><p>")
    program = (
        "import sys; from pathlib import Path; from sojourn.live import page; "
        f"page.FOLDER = Path({str(tmp_path)!r}); "
        "from sojourn.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    saved = tmp_path / "lab.html"
    live = [sys.executable, "-c", program, "live"]

    def save(*arguments: str) -> tuple[str, str]:
        command = [*live, *arguments, "--save", str(saved)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return printed.strip(), saved.read_text()

    assert save() == (saved.as_uri(), "<head></head><p>")
    found = {}
    for aqms in ("codel,pie", "pie,pi2:target=20ms"):
        address, text = save("dumbbell-reno", "--aqm", aqms)
        (held,) = re.findall(r'<meta name="sojourn-state" content="(1\.[\w-]+)" />', text)
        assert address == f"{saved.as_uri()}#{held}"
        state = json.loads(zlib.decompress(base64.urlsafe_b64decode(held[2:] + "=="), -15))
        found[aqms] = state["aqms"]
        assert 'name = "dumbbell-reno"' in state["text"]
    assert found == {
        "codel,pie": ["codel", "pie"],
        "pie,pi2:target=20ms": ["pie", "pi2:target=20ms"],
    }


@pytest.mark.slow
def test_a_widget_holds_the_page_and_the_state_of_its_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("anywidget")
    from sojourn.live import notebook

    (tmp_path / "sojourn.wasm").write_bytes(b"\0asm")
    (tmp_path / page.ONE_FILE).write_text("<p>")
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    widget = notebook.widget("dumbbell-reno", ["codel", "pie"], {"duration": "20s"})
    assert widget.get_state()["page"] == "<p>"
    packed = widget.fragment.partition(".")[2]
    state = json.loads(
        zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    )
    assert state["aqms"] == ["codel", "pie"]
    assert 'duration = "20s"' in state["text"]
    with pytest.raises(InputError, match="name two"):
        notebook.widget("dumbbell-reno", ["codel"])


def test_the_state_in_an_address_is_what_was_given() -> None:
    version, _, code = page.fragment(
        'name = "ä"', ["codel", "pie:target=5ms"], 2**64 - 1
    ).partition(".")
    packed = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
    state = json.loads(zlib.decompress(packed, -15))
    assert version == "1"
    assert state["text"] == 'name = "ä"'
    assert state["aqms"] == ["codel", "pie:target=5ms"]
    assert state["seed"] == str(2**64 - 1)


def test_a_scenario_that_no_address_holds_is_refused() -> None:
    noise = "".join(f"# {number * 7919 % 1_000_003}\n" for number in range(40_000))
    with pytest.raises(InputError, match="drop its file on the page"):
        page.fragment(noise, ["codel", "pie"], 1)


def test_an_aqm_that_the_page_does_not_have_is_refused_before_it_opens() -> None:
    with pytest.raises(ScenarioError, match="unknown AQM `cuddle`"):
        page.fragment('name = "x"', ["codel", "cuddle"], 1)
    with pytest.raises(InputError, match=r"mine\.py:Mine: the page has the AQMs of"):
        page.fragment('name = "x"', ["mine.py:Mine", "codel"], 1)


def test_an_installation_without_the_page_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    with pytest.raises(InputError, match="make web-toolchain web"):
        page.folder()


def test_the_server_gives_the_files_of_its_folder_on_the_loopback_interface(tmp_path: Path) -> None:
    (tmp_path / "sojourn.wasm").write_bytes(b"\0asm")
    (tmp_path / "inner").mkdir()
    with server(tmp_path) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{serving.server_port}"
        assert serving.server_address[0] == "127.0.0.1"
        with urllib.request.urlopen(f"{address}/sojourn.wasm") as answer:
            assert answer.read() == b"\0asm"
            assert answer.headers["Content-Type"] == "application/wasm"
        for outside in ("/inner/", "/../pyproject.toml", "/%2e%2e/pyproject.toml"):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(address + outside)
        for host, status in (("localhost", 200), ("evil.example", 421)):
            named = urllib.request.Request(
                f"{address}/sojourn.wasm", headers={"Host": f"{host}:{serving.server_port}"}
            )
            try:
                with urllib.request.urlopen(named) as answer:
                    found = answer.status
            except urllib.error.HTTPError as error:
                found = error.code
            assert found == status, host
        own = f"127.0.0.1:{serving.server_port}"
        for heads, status in (
            ([f"Host: {own}", "Host: evil.example"], 421),
            ([f"Host: {own}", "Origin: http://evil.example"], 403),
            ([f"Host: {own}", "Origin: null"], 403),
            ([f"Host: {own}", f"Origin: http://{own}"], 200),
            ([], 421),
        ):
            with socket.create_connection(("127.0.0.1", serving.server_port)) as connection:
                lines = ["GET /sojourn.wasm HTTP/1.0", *heads, "", ""]
                connection.sendall("\r\n".join(lines).encode())
                assert connection.recv(100).split()[1] == str(status).encode(), heads
        serving.shutdown()
        thread.join()


def test_live_refuses_a_single_aqm_a_scenario_in_json_and_a_port_that_is_taken(
    tmp_path: Path,
) -> None:
    def live(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = (
            "import sys; from pathlib import Path; from sojourn.live import page; "
            f"page.FOLDER = Path({str(tmp_path)!r}); "
            "from sojourn.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", program, "live", "--no-open", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    (tmp_path / "sojourn.wasm").write_bytes(b"\0asm")
    alone = live("dumbbell-reno", "--aqm", "codel")
    assert (alone.returncode, "name two" in alone.stderr) == (2, True), alone.stderr
    unnamed = live("--aqm", "codel,pie")
    assert (unnamed.returncode, "needs a scenario" in unnamed.stderr) == (2, True), unnamed.stderr
    other = live("mine.json")
    assert (other.returncode, "in TOML" in other.stderr) == (2, True), other.stderr
    with server(tmp_path) as taken:
        busy = live("--port", str(taken.server_port))
    assert (busy.returncode, "leave --port out" in busy.stderr) == (2, True), busy.stderr
