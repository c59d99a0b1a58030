"""The files of this machine that a guest can open, for every user in it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guests import KERNEL, needs_kernel
from sojourn.engines import child
from sojourn.engines.linux import guest
from sojourn.engines.supervise import can_fix_addresses, landlock_version

needs_landlock = pytest.mark.skipif(
    landlock_version() == 0, reason="this machine's kernel has no Landlock"
)


def in_a_guest(script: str, confined: bool) -> dict[str, str]:
    """The output of a shell script that runs as root in a guest."""
    assert KERNEL is not None, "what needs it is skipped otherwise"
    with child.scratch() as folder:
        (folder.shared / guest.INIT).write_text(script)
        seen = guest.sight(KERNEL.path, folder, "{}") if confined else ""
        command = guest.command_of(KERNEL, 1)
        with (
            folder.console.open("wb") as console,
            child.group(command, folder, console, seen) as group,
        ):
            group.wait(60)
        return {path.name: path.read_text() for path in folder.shared.iterdir() if path.is_file()}


@needs_kernel
@needs_landlock
@pytest.mark.slow
@pytest.mark.parametrize("confined", [True, False])
def test_a_file_of_the_user_outside_cannot_be_read_in_a_guest(
    tmp_path: Path, confined: bool
) -> None:
    (tmp_path / "own.txt").write_text("private")
    written = in_a_guest(
        f"cat {tmp_path}/own.txt > /run/direct\n"
        f"mount -t hostfs -o {tmp_path} hostfs /mnt && cat /mnt/own.txt > /run/mounted\n"
        "echo yes > /run/started\n",
        confined,
    )
    assert written["started"] == "yes\n"
    found = {written["direct"], written["mounted"]}
    assert found == ({""} if confined else {"private"})


@needs_kernel
@pytest.mark.slow
def test_a_guest_has_no_interface_to_a_network_outside() -> None:
    written = in_a_guest(
        "mount -t sysfs sysfs /sys && echo /sys/class/net/*/device > /run/devices\n"
        "ls /sys/class/net > /run/interfaces\n", True,
    )  # fmt: skip
    assert "lo" in written["interfaces"].split()
    # Only an interface with a device leads out of the guest; the pattern found no such interface.
    assert written["devices"] == "/sys/class/net/*/device\n"


needs_fixed_addresses = pytest.mark.skipif(
    not can_fix_addresses(), reason="personality(2) is refused here, as in some containers"
)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="this machine has no /dev/shm")
def test_the_folder_of_a_guests_memory_is_gone_when_the_guest_is() -> None:
    seen = json.dumps({"read": ["/"], "write": []})
    with child.scratch() as folder, folder.console.open("wb") as console:
        with child.group(["/bin/sh", "-c", "echo; sleep 9"], folder, console, seen) as group:
            while not folder.console.stat().st_size:
                time.sleep(0.01)
            (own,) = Path("/dev/shm").glob(f"sojourn-{group.pid}-*")
        assert not own.exists()


@needs_fixed_addresses
@pytest.mark.parametrize("sight", ["", json.dumps({"read": ["/"], "write": ["/dev/null"]})])
def test_a_supervised_program_begins_at_the_same_addresses_every_time(sight: str) -> None:
    command = [sys.executable, "-I", "-S", str(child.SUPERVISOR), sight, ""]
    with subprocess.Popen(
        [*command, "/bin/cat", "/proc/self/personality"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, start_new_session=True,
    ) as program:  # fmt: skip
        assert program.stdout is not None, "it is a pipe"
        shown = program.stdout.read()
        program.wait(30)
    assert int(shown, 16) & 0x0040000, "ADDR_NO_RANDOMIZE"
    before = int(Path("/proc/self/personality").read_text(), 16)
    assert not before & 0x0040000, "this process is as it was"


@needs_kernel
@needs_fixed_addresses
@pytest.mark.slow
def test_every_guest_has_the_same_memory() -> None:
    """Fact linux-40: with random addresses the size differed from boot to boot, 2044 to 2055 MB."""
    script = "mount -t proc proc /proc && head -n 1 /proc/meminfo > /run/memory\n"
    assert len({in_a_guest(script, True)["memory"] for _ in range(4)}) == 1


def test_a_machine_that_randomises_addresses_all_the_same_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = json.dumps({"warnings": ["one"]})
    monkeypatch.setattr(guest, "can_fix_addresses", lambda: True)
    assert guest.with_warning_of_addresses(plan) == plan
    monkeypatch.setattr(guest, "can_fix_addresses", lambda: False)
    one, other = json.loads(guest.with_warning_of_addresses(plan))["warnings"]
    assert one == "one"
    assert "two runs may differ" in other


@needs_landlock
def test_a_confined_program_writes_to_its_folder_alone(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    sight = json.dumps({"read": [sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/bin"],
                        "write": [str(own), "/dev/null"]})  # fmt: skip
    script = f"echo a > {own}/a; echo b > {other}/b"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(child.SUPERVISOR), sight, "", "/bin/sh", "-c", script],
        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as program:  # fmt: skip
        program.wait(30)
    assert (own / "a").exists()
    assert not (other / "b").exists()
