#!/bin/sh
# Runs in the machine, first as root and then as an ordinary user: lists the places of the engine
# linux, and runs its tests there. None of these places may be missing, because the machine has
# everything they need.
set -eu
export SOJOURN_HOSTS=1
# On a normal system, udev loads this and opens it to users.
modprobe tun
chmod 666 /dev/net/tun
# Only in the machine's layer: ordinary users may read the tested package and its interpreter.
for file in "$PYTHON" "$(readlink -f "$PYTHON")" "$PWD/tests" "$PWD/python"; do
    while [ "$file" != / ]; do
        [ -d "$file" ] && chmod a+rx "$file"
        file=$(dirname "$file")
    done
done

look() {
    "$@" "$PYTHON" -m sojourn doctor
    "$@" "$PYTHON" -m pytest -p no:cacheprovider --color=no -v -rs --tb=short \
        tests/test_linux_places.py tests/test_linux_disciplines.py -k "$chosen"
}

status=0
echo "== as root"
chosen=test
look env || status=1
echo "== as an ordinary user"
mkdir -p /tmp/user
chown 65534:65534 /tmp/user
chosen="places or codel"
look setpriv --reuid=65534 --regid=65534 --clear-groups \
    env HOME=/tmp/user TMPDIR=/tmp/user XDG_CACHE_HOME=/tmp/user || status=1
sh tests/hosts/module.sh || status=1
exit "$status"
