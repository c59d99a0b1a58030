#!/bin/sh
# Puts download.sh behind an AQM in real time. A run of a machine that stalled is made again.
set -eu
if [ "$(id -u)" -ne 0 ]; then  # Ubuntu lets only root make namespaces
    exec sudo env "PATH=$PATH" sh "$0"
fi
served=$(mktemp -d)
trap 'rm -rf "$served"' EXIT
head -c 1000000 /dev/zero > "$served/big"
for _ in 1 2 3; do
    code=0
    sojourn router --rate 10mbit --delay 20ms --aqm codel --stall 100ms --json router.json \
        --far-run "python3 -m http.server --directory $served 8000" -- sh download.sh || code=$?
    [ "$code" -eq 123 ] || exit "$code"
done
exit "$code"
