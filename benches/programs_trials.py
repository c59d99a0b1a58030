"""Whether unmodified programs give the same packets in every run, under load and without.

    python benches/programs_trials.py [TIMES] [NAME ...]

Runs each program TIMES times (10 by default) without load, and as often next to busy loops, each in
a new guest, and writes the table of docs/evidence/programs.md. Each run has other locales, time
zones, CPUs, sizes of the environment and addresses. A program that is not installed is left out,
with the reason. Fails unless every program has one digest.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sojourn import files
from sojourn.engines.linux import kernel
from sojourn.programs.running import run_programs

HERE = Path(__file__).parent / "programs"
PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "programs.md"
MARKS = ("<!-- trials: begin -->\n", "<!-- trials: end -->\n")
TIMES = 10
BUSY_LOOPS = 3
LINE = """
name = "line"
duration = "60s"
warmup = "0s"
[engine.linux]
bottleneck = "sojourn"
[links.down]
rate = "20mbit"
queue = "fq_codel"
[links.up]
rate = "5mbit"
queue = "fq_codel"
[[flows]]
name = "programs"
path = ["down"]
reverse = ["up"]
rtt = "50ms"
app = { kind = "bulk" }
"""
NGINX = (
    "printf 'daemon off; user root; worker_processes 2; pid nginx.pid; error_log stderr;"
    " events {{}} http {{ access_log off; client_body_temp_path b; proxy_temp_path p;"
    " fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;"
    " server {{ listen {listen}; root /tmp/own; }} }}' > nginx.conf; {before}"
    " exec nginx -p /tmp/own -c /tmp/own/nginx.conf -e stderr"
)
KEY = (
    "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=server -days 9 -keyout key.pem"
    " -out cert.pem 2> /dev/null;"
)


@dataclass(frozen=True)
class Trial:
    """Programs of one kind.

    Attributes:
        name: its name in the table.
        needs: programs that must be installed.
        server: the command in front of the link.
        client: the command behind it.
        more: further commands by host.
        build: the command that builds a program of ours, run in a folder that guests can read.
        environment: environment variables of the programs.
    """

    name: str
    needs: tuple[str, ...]
    server: str
    client: str
    more: dict[str, str] = field(default_factory=dict)
    build: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


DATA = "truncate -s 3M big;"
TRIALS = (
    Trial("curl, Python's http.server", ("curl",),
          f"{DATA} exec /usr/bin/python3 -m http.server 8080",
          "curl -sO http://server:8080/big"),
    Trial("nginx, curl with six at a time", ("nginx", "curl"),
          NGINX.format(listen="80", before="truncate -s 300k big;"),
          "curl -s --parallel --parallel-max 6 'http://server/big?[1-20]' -o /dev/null"),
    Trial("nginx with TLS, ab", ("nginx", "ab", "openssl"),
          NGINX.format(listen="443 ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem",
                       before=f"{KEY} truncate -s 50k big;"),
          "ab -q -k -c 5 -n 60 https://server/big"),
    Trial("iperf3, two streams of TCP", ("iperf3",), "exec iperf3 -s",
          "iperf3 -c server -R -P 2 -t 5"),
    Trial("iperf3, UDP", ("iperf3",), "exec iperf3 -s", "iperf3 -c server -R -u -b 22M -t 3"),
    Trial("Go, 16 goroutines", ("go",), "exec HERE/web serve", "HERE/web fetch",
          build=("go", "build", "-o", "HERE/web", f"{HERE}/server.go")),
    Trial("Java, 4 threads", ("java", "javac"), "exec java -cp HERE Http serve",
          "java -cp HERE Http fetch", build=("javac", "-d", "HERE", f"{HERE}/Http.java")),
    Trial("Rust, a thread for each connection", ("rustc",), "exec HERE/threads serve",
          "HERE/threads fetch",
          build=("rustc", "-O", "-o", "HERE/threads", f"{HERE}/threads.rs")),
    Trial("node", ("node",), f"exec node {HERE}/fetch.js serve", f"node {HERE}/fetch.js fetch"),
    Trial("Python's asyncio, 10 threads", (), f"exec /usr/bin/python3 {HERE}/asynchronous.py serve",
          f"/usr/bin/python3 {HERE}/asynchronous.py fetch"),
    Trial("QUIC: aioquic", ("openssl",), f"exec /usr/bin/python3 {HERE}/quic.py serve",
          f"/usr/bin/python3 {HERE}/quic.py fetch",
          build=("/usr/bin/python3", "-m", "pip", "install", "--quiet", "--target", "HERE",
                 "aioquic==1.2.0"),
          environment={"PYTHONPATH": "HERE", "PYTHONDONTWRITEBYTECODE": "1"}),
    Trial("keys echoed by a terminal, nc", ("socat", "nc"),
          f"{DATA} nc -N -l -p 9000 < big & exec socat tcp-listen:9001,fork exec:cat,pty,echo=0",
          "nc server 9000 > /dev/null & for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.1; done"
          " | socat -t 1 - tcp:server:9001"),
    Trial("ping, nc", ("ping", "nc"), f"{DATA} exec nc -N -l -p 9000 < big",
          "nc server 9000 > /dev/null", {"client-2@1s": "ping -q -i 0.05 -c 30 server"}),
    Trial("Redis, its benchmark", ("redis-server", "redis-benchmark"),
          "exec redis-server --save '' --bind 0.0.0.0 --protected-mode no",
          "redis-benchmark -h server -q -c 10 -n 300 -t set,get"),
    Trial("ffmpeg over TCP", ("ffmpeg",),
          "exec ffmpeg -v error -re -f lavfi -i testsrc=s=320x240:r=25:d=3 -c:v mpeg4 -threads 1"
          " -f mpegts 'tcp://0.0.0.0:9000?listen=1'",
          "ffmpeg -v error -i tcp://server:9000 -f null -"),
    Trial("ruby, a shell's pipeline", ("ruby", "nc"),
          "exec ruby -rsocket -e 's = TCPServer.new(9000); loop { c = s.accept;"
          " 100000.times { |i| c.puts(i) }; c.close }'",
          "nc server 9000 | sort -rn | sha256sum"),
    Trial("lighttpd, wget", ("lighttpd", "wget"),
          f"{DATA} printf 'server.document-root = \"/tmp/own\"\nserver.port = 8080\n' > web.conf;"
          " exec lighttpd -D -f /tmp/own/web.conf",
          "wget -q -O /dev/null http://server:8080/big"),
    Trial("haproxy, curl", ("haproxy", "curl"),
          "truncate -s 400k big; /usr/bin/python3 -m http.server 9001 2> /dev/null &"
          " printf 'defaults\n mode http\n timeout connect 5s\n timeout client 9s\n"
          " timeout server 9s\nfrontend f\n bind *:8080\n default_backend b\nbackend b\n"
          " server s 127.0.0.1:9001\n' > proxy.cfg; exec haproxy -q -f proxy.cfg",
          "curl -s --parallel 'http://server:8080/big?[1-5]' -o /dev/null"),
    Trial("php -S, aria2 with four connections", ("php", "aria2c"),
          f"{DATA} exec php -S 0.0.0.0:8080", "aria2c -q -x 4 -s 4 -k 1M http://server:8080/big"),
    Trial("memcached, nc", ("memcached", "nc"), "exec memcached -u root -l 0.0.0.0",
          "for i in $(seq 100); do printf 'set k%d 0 0 5\r\nhello\r\nget k%d\r\n' $i $i; done"
          " > commands; printf 'quit\r\n' >> commands; nc server 11211 < commands"),
    Trial("mosquitto, 20 messages", ("mosquitto", "mosquitto_pub", "mosquitto_sub"),
          "printf 'listener 1883\nallow_anonymous true\n' > broker.conf;"
          " exec mosquitto -c broker.conf",
          "mosquitto_sub -h server -t news -C 20 -q 1 > got & sleep 0.5; for i in $(seq 20);"
          " do mosquitto_pub -h server -t news -q 1 -m $i; done; wait"),
    Trial("PostgreSQL, psql", ("psql", "setpriv"),
          "PG=$(ls -d /usr/lib/postgresql/*/bin); mkdir db; chown postgres db;"
          " as='setpriv --reuid=postgres --regid=postgres --clear-groups';"
          " $as $PG/initdb -D db -A trust -U u > log; echo 'host all all all trust' >>"
          " db/pg_hba.conf; exec $as $PG/postgres -D db -c listen_addresses='*'"
          " -c unix_socket_directories=",
          "sleep 8; for i in 1 2 3; do psql -h server -U u postgres -Atc 'select 1'; done"),
    Trial("ssh: sshd, scp", ("sshd", "scp", "nc"),
          "mkdir /run/sshd; ssh-keygen -q -t ed25519 -N '' -f key; nc -l -p 9001 > allowed;"
          " truncate -s 400k big;"
          " exec /usr/sbin/sshd -D -e -h /tmp/own/key -o AuthorizedKeysFile=/tmp/own/allowed"
          " -o StrictModes=no -o UsePAM=no -f /dev/null",
          "ssh-keygen -q -t ed25519 -N '' -f own; nc -N server 9001 < own.pub; sleep 1;"
          " scp -O -q -i own -o StrictHostKeyChecking=no root@server:/tmp/own/big got"),
    Trial("rsync", ("rsync",),
          "printf 'use chroot = no\n[own]\npath = /tmp/own\n' > sync.conf; seq 100000 > text;"
          " exec rsync --daemon --no-detach --config=sync.conf --port 8730",
          "rsync -a rsync://server:8730/own/ got"),
    Trial("FTP: vsftpd, curl", ("vsftpd", "curl"),
          "mkdir f; truncate -s 700k f/big; chmod 555 f; printf 'listen=YES\nlisten_port=2121\n"
          "anonymous_enable=YES\nanon_root=/tmp/own/f\nrun_as_launching_user=YES\n"
          "secure_chroot_dir=/tmp/own/f\nseccomp_sandbox=NO\nftp_username=nobody\n' > ftp.conf;"
          " exec vsftpd /tmp/own/ftp.conf",
          "curl -s -o got ftp://server:2121/big"),
    Trial("DNS: dnsmasq, dig", ("dnsmasq", "dig"),
          "exec dnsmasq -k -u root --no-resolv --no-hosts --address=/example.org/192.0.2.7",
          "for i in 1 2 3 4 5 6; do dig +short @server www.example.org; done"),
    Trial("NTP: chrony", ("chronyd",),
          "printf 'local stratum 3\nallow all\ncmdport 0\npidfile /tmp/pid\n' > ntp.conf;"
          " exec chronyd -x -d -f /tmp/own/ntp.conf -u root",
          "chronyd -Q -t 8 -u root 'server server iburst' 'pidfile /tmp/pid' 'cmdport 0'"),
    Trial("MPTCP: iperf3", ("mptcpize", "iperf3"), "exec mptcpize run iperf3 -s",
          "mptcpize run iperf3 -c server -R -t 2"),
    Trial("iperf 2, tcpdump", ("iperf", "tcpdump"), "exec iperf -s",
          "tcpdump -i eth0 -nn -q -c 500 > packets 2> log & iperf -c server -t 2; wait"),
    Trial("nginx, Chromium", ("nginx", "chromium"),
          NGINX.format(listen="80; default_type text/html",
                       before="for i in $(seq 12); do truncate -s 30k $i.png;"
                       " echo \"<img src=$i.png>\"; done > index.html;"),
          "/usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu --dump-dom"
          " http://server/ 2> /dev/null"),
    Trial("MariaDB", ("mariadbd", "mariadb"),
          "set -- --no-defaults --innodb-buffer-pool-size-max=64M --innodb-buffer-pool-size=16M"
          " --user=root --datadir=/tmp/own/db; mariadb-install-db $* > log;"
          " exec mariadbd $* --socket=/tmp/own/socket --skip-grant-tables",
          "sleep 9; for i in 1 2 3; do mariadb --no-defaults -h server -u u -e 'select 1'; done"),
    Trial("gRPC; hypercorn over HTTP/2 and HTTP/3", ("curl", "openssl"),
          f"{KEY} /usr/bin/python3 {HERE}/grpc_calls.py serve &"
          f" exec /usr/bin/python3 -m hypercorn --quic-bind 0.0.0.0:4433 --bind 0.0.0.0:4433"
          " --certfile cert.pem --keyfile key.pem web_app:app",
          f"sleep 3; /usr/bin/python3 {HERE}/grpc_calls.py fetch; curl -sk --http2 -o /dev/null"
          f" https://server:4433/; /usr/bin/python3 {HERE}/web_app.py",
          build=("/usr/bin/python3", "-m", "pip", "install", "--quiet", "--target", "HERE",
                 "grpcio==1.85.3", "hypercorn[h3]==0.18.0", "aioquic==1.7.2"),
          environment={"PYTHONPATH": f"HERE:{HERE}", "PYTHONDONTWRITEBYTECODE": "1"}),
)  # fmt: skip


@dataclass
class Outcome:
    """The results of a trial's runs."""

    digests: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    packets: float = 0
    simulated_s: float = 0
    wall_s: dict[bool, float] = field(default_factory=lambda: {False: 0.0, True: 0.0})


def main(arguments: list[str]) -> None:
    """Run, count and write."""
    times = int(arguments[0]) if arguments else TIMES
    asked = arguments[1:]
    chosen = [t for t in TRIALS if not asked or any(t.name.startswith(name) for name in asked)]
    rows, failed = [], []
    for trial in chosen:
        lacks = [program for program in trial.needs if shutil.which(program) is None]
        if lacks:
            rows.append(f"| {trial.name} | not run: {', '.join(lacks)} not installed | | | | | |")
            continue
        outcome = _tried(trial, times)
        rows.append(_row(trial, outcome, times))
        print(rows[-1], flush=True)
        if len(outcome.digests) != 1:
            failed.append(trial.name)
    found = kernel.find()
    head = (
        f"Linux {found.version if found else 'unknown'}. Half of the runs had no added load, "
        f"half {BUSY_LOOPS} busy loops.\n\n"
        "| programs | packets | runs | digests | times and outputs | simulated, s | wall, s: "
        "without load, with |\n|---|---:|---:|---:|---:|---:|---:|\n"
    )
    if not asked:
        files.replace_between(PAGE, *MARKS, head + "\n".join(rows) + "\n")
    if failed:
        raise SystemExit(f"runs differ: {', '.join(failed)}")


def _tried(trial: Trial, times: int) -> Outcome:
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "built")
        built.mkdir()
        if trial.build:
            subprocess.run([word.replace("HERE", str(built)) for word in trial.build], check=True)
        line = Path(folder, "line.toml")
        line.write_text(LINE)
        for is_loaded in (False, True):
            with _load() if is_loaded else _none():
                for _ in range(times):
                    with _other_machine():
                        _once(trial, line, built, is_loaded, outcome)
    return outcome


def _once(trial: Trial, line: Path, built: Path, is_loaded: bool, outcome: Outcome) -> None:
    def placed(text: str) -> str:
        return text.replace("HERE", str(built))

    commands = {"server": trial.server, "client": trial.client, **trial.more}
    began = time.monotonic()
    result = run_programs(
        line, {host: placed(text) for host, text in commands.items()}, see=[HERE, built],
        environment={name: placed(value) for name, value in trial.environment.items()},
    )  # fmt: skip
    outcome.wall_s[is_loaded] += time.monotonic() - began
    if result.invalid:
        raise SystemExit(f"{trial.name}: {result.invalid}")
    rows = result.programs.to_pylist()
    outcome.digests.add(result.digest)
    text = repr([(r["start_ns"], r["end_ns"], r["stdout"], r["stderr"]) for r in rows])
    outcome.others.add(hashlib.sha256(text.replace(str(built), "").encode()).hexdigest())
    outcome.packets = result.summary["run/packets"]
    outcome.simulated_s = max(row["end_ns"] or 0 for row in rows) / 1e9


def _row(trial: Trial, outcome: Outcome, times: int) -> str:
    idle_s, loaded_s = (outcome.wall_s[is_loaded] / times for is_loaded in (False, True))
    return (
        f"| {trial.name} | {outcome.packets:,.0f} | {2 * times} | {len(outcome.digests)} | "
        f"{len(outcome.others)} | {outcome.simulated_s:.2f} | {idle_s:.1f}, {loaded_s:.1f} |"
    )


@contextmanager
def _other_machine() -> Iterator[None]:
    """What may differ between two machines, and can be chosen here, at random."""
    before, cpus = dict(os.environ), os.sched_getaffinity(0)
    locale = random.choice(["C", "C.UTF-8", "de_DE.UTF-8", "ja_JP.UTF-8", "tr_TR.UTF-8"])
    os.environ |= {
        "LANG": locale, "LC_ALL": locale, "TZ": f"X{random.randint(-11, 11)}",
        "PYTHONHASHSEED": str(random.randint(1, 9999)), "FILLER": "x" * random.randint(0, 60_000),
    }  # fmt: skip
    os.sched_setaffinity(0, random.sample(sorted(cpus), random.randint(1, len(cpus))))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before
        os.sched_setaffinity(0, cpus)


@contextmanager
def _load() -> Iterator[None]:
    loops = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(BUSY_LOOPS)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


@contextmanager
def _none() -> Iterator[None]:
    yield


def _spin() -> None:
    while True:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
