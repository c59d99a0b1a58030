#!/bin/sh
# Compiles the simulator for browsers: target/web/sojourn.wasm. Takes rustup's compiler if that has
# its component rust-src (Rust 1.92 or newer), else Debian's that web/toolchain.sh has fetched.
# Exits with 3 and one line where there is neither.
set -eu
cd "$(dirname "$0")/.."
cache=${SOJOURN_WEB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sojourn/web}
target=wasm32-unknown-unknown
sysroot=$(rustc --print sysroot)
folder=${CARGO_TARGET_DIR:-target}/web
flavor=
if [ ! -d "$sysroot/lib/rustlib/src/rust/library" ]; then
    if [ ! -e "$cache/complete" ]; then
        echo "no compiler for WebAssembly: \`make web-toolchain\` fetches Debian's," \
            "\`rustup component add rust-src\` what rustup's lacks" >&2
        exit 3
    fi
    read -r llvm <"$cache/complete"
    libraries=$cache/usr/lib/$(uname -m)-linux-gnu:$cache/usr/lib/llvm-$llvm/lib
    # Cargo's own libraries must not be these: only the compiler and the linker get them.
    mkdir -p "$folder"
    for tool in rustc:usr/bin/rustc rustdoc:usr/bin/rustc linker:usr/lib/llvm-$llvm/bin/lld; do
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$cache/${tool#*:}" \
            >"$folder/${tool%%:*}"
        chmod +x "$folder/${tool%%:*}"
    done
    RUSTC=$(realpath "$folder")/rustc
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(realpath "$folder")/linker
    export RUSTC CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER
    flavor=-Clinker-flavor=wasm-ld
    sysroot=$("$RUSTC" --print sysroot)
fi
unit=$(printf '\037')
# A panic ends WebAssembly without a word, so its message need not be part of the page. A generic
# function that several crates use is compiled once.
flags=${flavor:+$flavor$unit}-Zunstable-options$unit-Cpanic=immediate-abort
flags=$flags$unit-Zshare-generics=yes
# Places of this machine are not part of the result: two machines with one compiler give one file.
remap() { flags="$flags$unit--remap-path-prefix=$(realpath "$1")=$2"; }
remap "$sysroot" rust
remap "${CARGO_HOME:-$HOME/.cargo}" cargo
remap . sojourn
CARGO_ENCODED_RUSTFLAGS=$flags
export CARGO_ENCODED_RUSTFLAGS
# The standard library is compiled too, which takes an option that is not stable.
export RUSTC_BOOTSTRAP=1
cargo build --quiet --package sojourn-wasm --lib --target "$target" --target-dir "$folder" \
    --profile web -Z build-std=std,panic_abort -Z build-std-features=optimize_for_size
cp "$folder/$target/web/sojourn_wasm.wasm" "$folder/sojourn.wasm"
