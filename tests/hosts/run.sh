#!/bin/sh
# Starts a small virtual machine with Debian's kernel, whose root is this machine's tree, read-only
# under a layer in memory, and runs the tests that need a kernel with every discipline, or a CPU
# that Debian's user-mode-linux supports:
#
#     sh tests/hosts/run.sh PYTHON [COMMAND ARGUMENT...]
#
# PYTHON has sojourn and pytest. Without a command: inside.sh, the tests. Needs the Debian packages
# of the line below and about 600 MB for a scratch folder; no root. Everything ends with this shell.
set -eu
packages="busybox-static iproute2 kmod linux-headers-amd64 qemu-system-x86 user-mode-linux
    util-linux"
here=$(cd "$(dirname "$0")" && pwd)
limit_s=1800
emulated_limit_s=7200
memory_mib=3072
machine=""
# A clock that skips idle time could skip past a time-out while a file is read.
ticker="import time
while True: time.sleep(1e-3)"

main() {
    lacks=$(absent)
    if [ -n "$lacks" ]; then
        echo "tests/hosts: not installed:$lacks; apt-get install $packages" >&2
        exit 2
    fi
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    trap 'kill "$machine" 2>/dev/null; exit 130' HUP INT TERM
    mkdir -p "$scratch/shared" "$scratch/first/bin" "$scratch/first/modules"
    unpack_kernel
    write_first_files
    write_what_to_run "$@"
    start_machine
    status=$(cat "$scratch/shared/status" 2>/dev/null) || {
        echo "tests/hosts: the machine ended before its commands" >&2
        exit 1
    }
    exit "$status"
}

absent() {
    for package in $packages; do
        dpkg-query -W "$package" >/dev/null 2>&1 || printf ' %s' "$package"
    done
}

# Debian's current kernel, from its archive; it is not installed here.
unpack_kernel() {
    image=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: //p')
    (cd "$scratch" && apt-get download -qq "$image" 2>/dev/null)
    dpkg-deb -x "$scratch/$image"_*.deb "$scratch/shared"
    rm "$scratch/$image"_*.deb
    version=${image#linux-image-}
    /sbin/depmod -b "$scratch/shared" "$version"
}

# The first files of the machine: a shell, and the modules that reach its root.
write_first_files() {
    cp "$(command -v busybox)" "$scratch/first/bin/busybox"
    cp "$here/init" "$scratch/first/init"
    chmod 755 "$scratch/first/init"
    count=100
    /sbin/modprobe -d "$scratch/shared" -S "$version" -a --show-depends \
        virtio_pci 9pnet_virtio 9p overlay | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
        while read -r path; do
            count=$((count + 1))
            cp "$path" "$scratch/first/modules/$count.ko"
        done
    (cd "$scratch/first" && find . | busybox cpio -o -H newc) >"$scratch/first.cpio"
}

write_what_to_run() {
    python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
    shift
    [ $# -gt 0 ] || set -- sh "$here/inside.sh"
    {
        for name in HOME PATH PYTHONPATH XDG_CACHE_HOME CI; do
            eval "value=\${$name-}"
            [ -z "$value" ] || echo "export $name=$(quoted "$value")"
        done
        echo "export PYTHON=$(quoted "$python")"
        echo "cd $(quoted "$here/../..")"
        can_virtualise || echo "$(quoted "$python") -I -S -c $(quoted "$ticker") &"
        for word in "$@"; do
            printf '%s ' "$(quoted "$word")"
        done
        echo
    } >"$scratch/shared/commands"
}

quoted() {
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

# With hardware virtualisation if available, else by emulation with a clock that counts instructions
# (one per nanosecond) and skips idle time, so other load on this machine stalls no run. No AMX:
# Debian's user-mode-linux cannot restore its registers.
start_machine() {
    can_virtualise || {
        echo "tests/hosts: no /dev/kvm for this user, so the processor is emulated: slow" >&2
        limit_s=$emulated_limit_s
    }
    set -- -accel tcg,thread=single -icount shift=0,sleep=off -cpu max -smp 1
    if can_virtualise; then
        set -- -accel kvm -cpu host,-amx-tile,-amx-int8,-amx-bf16 -smp 2
    fi
    # However this shell ends, the machine ends with it.
    setpriv --pdeathsig KILL timeout "$limit_s" setpriv --pdeathsig KILL \
        qemu-system-x86_64 "$@" -m "$memory_mib" -nodefaults -no-reboot -display none \
        -serial stdio \
        -kernel "$scratch/shared/boot/vmlinuz-$version" -initrd "$scratch/first.cpio" \
        -append "console=ttyS0 quiet panic=-1 random.trust_cpu=on" \
        -virtfs local,path=/,mount_tag=tree,security_model=none,readonly=on,multidevs=remap \
        -virtfs "local,path=$scratch/shared,mount_tag=shared,security_model=none" \
        </dev/null &
    machine=$!
    wait "$machine"
}

can_virtualise() {
    [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo
}

main "$@"
