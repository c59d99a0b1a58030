"""Measures a path: delays of datagrams, then the throughput of one connection.

    traffic.py serve               answers at the far end, once
    traffic.py measure ADDRESS S   sends at the near end; S seconds for the connection; prints JSON

Both ends share the machine's monotonic clock.
"""

import json
import socket
import statistics
import sys
import threading
import time

PORT = 5201
PROBES = 400
EVERY_S = 0.005
PROBE_BYTES = 100
CHUNK = 1 << 18


def serve() -> None:
    """Record when datagrams arrive, then read a connection to its end; report both."""
    control = socket.create_server(("", PORT), reuse_port=True)
    probes = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probes.bind(("", PORT))
    delays: list[int] = []

    def receive() -> None:
        while True:
            data = probes.recv(2048)
            delays.append(time.monotonic_ns() - int.from_bytes(data[:8], "little"))

    threading.Thread(target=receive, daemon=True).start()
    connection, _ = control.accept()
    buffer, times = bytearray(CHUNK), []
    got = 0
    while count := connection.recv_into(buffer):
        got += count
        times.append((time.monotonic(), got))
    begin = next(row for row in times if row[0] >= times[0][0] + 1.0)
    end = times[-1]
    rate = (end[1] - begin[1]) * 8 / (end[0] - begin[0])
    connection.sendall(json.dumps({"delays_ns": delays, "bps": rate}).encode())


def measure(address: str, seconds: float) -> None:
    """Send the datagrams, then the connection's data, so the datagrams meet no queue."""
    probes = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    time.sleep(1.0)
    due = time.monotonic()
    for _ in range(PROBES):
        due += EVERY_S
        time.sleep(max(0.0, due - time.monotonic()))
        stamp = time.monotonic_ns().to_bytes(8, "little")
        probes.sendto(stamp.ljust(PROBE_BYTES, b"\0"), (address, PORT))
    time.sleep(0.5)
    connection = socket.create_connection((address, PORT))
    end = time.monotonic() + seconds
    data = bytes(CHUNK)
    while time.monotonic() < end:
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)
    said = b""
    while part := connection.recv(CHUNK):
        said += part
    found = json.loads(said)
    delays = sorted(found["delays_ns"])
    at = statistics.quantiles(delays, n=100)
    print(json.dumps({
        "probes": len(delays), "p50_ns": at[49], "p99_ns": at[98], "least_ns": delays[0],
        "bps": found["bps"],
    }), flush=True)  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        measure(sys.argv[2], float(sys.argv[3]))
