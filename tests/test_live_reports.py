"""The router's reports for a page: authorised and refused clients."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.live.reports import ReportServer

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")

pytestmark = pytest.mark.slow


def test_a_page_with_the_token_gets_past_reports_and_new_ones(tmp_path: Path) -> None:
    with ReportServer(tmp_path) as serving:
        serving.publish({"t_s": 0.5})
        with client.connect(f"ws://127.0.0.1:{serving.port}/reports") as page:
            page.send(serving.token)
            assert json.loads(page.recv(timeout=60)) == {"t_s": 0.5}
            serving.publish({"t_s": 1.0})
            assert json.loads(page.recv(timeout=60)) == {"t_s": 1.0}


def test_a_wrong_token_another_origin_and_another_host_get_nothing(tmp_path: Path) -> None:
    with ReportServer(tmp_path) as serving:
        serving.publish({"t_s": 0.5})
        address = f"ws://127.0.0.1:{serving.port}/reports"
        with client.connect(address) as page:
            page.send("guessed")
            with pytest.raises(exceptions.ConnectionClosed) as closed:
                page.recv(timeout=60)
            assert closed.value.rcvd.code == 1008
        with pytest.raises(exceptions.InvalidStatus):
            client.connect(address, origin="http://example.org")
        with pytest.raises(exceptions.InvalidStatus):
            client.connect(address, additional_headers={"Host": "example.org"})


def test_a_port_that_is_taken_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match=r"--live-port [0-9]+: .*leave it out"):
            ReportServer(tmp_path, taken.getsockname()[1])


def test_the_end_with_a_page_open_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as pages, ReportServer(tmp_path) as serving:
        address = f"ws://127.0.0.1:{serving.port}/reports"
        reader, _without_token = (pages.enter_context(client.connect(address)) for _ in "ab")
        reader.send(serving.token)
        serving.publish({"t_s": 0.5})
        reader.recv(timeout=60)
    assert capfd.readouterr().err == ""
