#!/bin/sh
# The kernel module in the machine, as root: loaded, changed, flooded, unloaded (tests/module).
# `sojourn kernel module --headers` has built it for this kernel.
set -eu
echo "== the module"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sojourn/kernel/module-$(uname -r)"
mkdir -p /tmp/module /run/netns
cp "$cache/sch_sojourn.ko" "$cache/q_sojourn.so" /tmp/module/
"$PYTHON" tests/module/record.py --trials /tmp/module
"$PYTHON" -I -S /tmp/module/inside.py /tmp/module
"$PYTHON" tests/module/record.py --judge /tmp/module
