"""Cached builds of engines are validated, and damage is reported without a traceback."""

from __future__ import annotations

import warnings

import pytest

from sojourn.engines.linux import kernel
from sojourn.engines.linux.kernel import module
from sojourn.engines.ns3 import runner
from sojourn.errors import InputError

DAMAGED = [b"", b"{", b"[]", b"3", b"null", b'"text"', b"{}", b'{"sources": 1}', b"\xff\xfe{}"]


@pytest.fixture(params=DAMAGED, ids=repr)
def content(request) -> bytes:
    return request.param


def test_a_damaged_note_of_a_kernel_is_said_with_a_remedy_and_not_used(tmp_path, content):
    about = tmp_path / "6.1" / kernel._ABOUT
    about.parent.mkdir()
    about.write_bytes(content)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert kernel._built(about, "a configuration") is None
    assert "is damaged and not used; remove it and call `sojourn kernel build`" in str(said[0])


def test_a_damaged_note_of_a_kernel_module_names_what_makes_it_again(tmp_path, content):
    (tmp_path / module._ABOUT).write_bytes(content)
    with pytest.raises(InputError, match="`sojourn kernel module` makes it"):
        module.require(tmp_path)


def test_a_kernel_module_that_is_gone_is_made_again(tmp_path):
    (tmp_path / module._ABOUT).write_text('{"sources": "a", "sha256": "b"}')
    with pytest.raises(InputError, match="`sojourn kernel module` makes it"):
        module.require(tmp_path)


def test_a_damaged_note_of_the_ns3_runner_counts_as_none(tmp_path, monkeypatch, content):
    about = tmp_path / "ns3-runner-1" / runner._ABOUT
    about.parent.mkdir()
    about.write_bytes(content)
    monkeypatch.setattr(runner, "cache", lambda: tmp_path)
    with pytest.raises(InputError, match="its runner is not built"):
        runner.require()
