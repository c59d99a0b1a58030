#!/bin/sh
# Fetches a compiler for WebAssembly from Debian into the user's cache, next to any installed
# Rust. Debian's packages of it conflict with Debian's own rustc only, so they are unpacked and
# not installed; the standard library is compiled from the sources among them. Needs apt; with
# rustup, `rustup component add rust-src` does instead. 140 MB to fetch, half a minute.
#
#     sh web/toolchain.sh
set -eu
cache=${SOJOURN_WEB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sojourn/web}
if [ -e "$cache/complete" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "web/toolchain.sh needs apt; use \`rustup component add rust-src\`" >&2
    exit 1
fi
rm -rf "$cache.part"
mkdir -p "$cache.part/packages"
cd "$cache.part/packages"
depends() { apt-cache depends "$1" | sed -n "s/.*Depends: $2\$/\\1/p"; }
std=$(depends libstd-rust-web-dev '\(libstd-rust-web-[0-9].*\)')
llvm=$(depends rust-web-llvm 'llvm-\([0-9]*\)')
if [ -z "$std" ] || [ -z "$llvm" ]; then
    echo "this Debian has no rustc-web with its sources; run apt-get update or use rustup" >&2
    exit 1
fi
apt-get -qq download rustc-web rust-web-src libstd-rust-web-dev "$std" \
    "libllvm$llvm" "lld-$llvm" 2>apt.log || { cat apt.log >&2; exit 1; }
# Of the sources only the standard library's, of LLVM no debugging symbols are needed.
for package in rustc-web_* libstd-rust-web* "libllvm$llvm"_* "lld-$llvm"_*; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C .. --exclude './usr/share/doc*'
done
dpkg-deb --fsys-tarfile rust-web-src_* | tar -x -C .. --wildcards './usr/lib/*' \
    './usr/src/rustc-*/library/*' './usr/src/rustc-*/Cargo.*'
cd ..
rm -rf packages
echo "$llvm" >complete
rm -rf "$cache"
mv "$cache.part" "$cache"
echo "a compiler for WebAssembly is in $cache"
