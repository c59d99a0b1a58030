#!/bin/sh
# Runs the benches and writes their tables, with a description of the machine, to
# benches/RESULTS.md.
set -eu
cd "$(dirname "$0")/.."
program="${CARGO_TARGET_DIR:-target}/release/sojourn-benches"
cores=$(nproc)
model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1)
rust=$(rustc --version | cut -d' ' -f1,2)
memory=$(awk '/MemTotal/ {printf "%.0f", $2 / 1048576}' /proc/meminfo)
{
    echo "# What a packet costs"
    echo
    echo "Written by \`make bench\`; do not edit. Measured on $(date -u +%Y-%m-%d) with $rust on a"
    echo "shared virtual machine: $cores cores of \"$model\", $memory GiB of memory, Linux."
    echo "Times there drift; each figure is the best of five runs, instruction counts do not drift."
    echo "CUBIC with SACK and delayed acknowledgements, access links, base RTT 100 ms, buffer of"
    echo "two bandwidth-delay products, the summary recorder on."
    echo
    "$program"
    # Other simulators as programs: PEERS="htsim=PATH".
    # shellcheck disable=SC2086
    "${PYTHON:-python3}" benches/peers.py ${PEERS:-}
    "${PYTHON:-python3}" benches/stability.py
    "${PYTHON:-python3}" benches/linux.py
    "${PYTHON:-python3}" benches/router.py
} | tee benches/RESULTS.new
mv benches/RESULTS.new benches/RESULTS.md
