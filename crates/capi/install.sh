#!/bin/sh
# Installs the C library: PREFIX (/usr/local), LIBDIR (PREFIX/lib), INCLUDEDIR (PREFIX/include) and
# DESTDIR (empty) as in GNU's makefiles; PROFILE (release) is cargo's.
set -eu
cd "$(dirname "$0")"
prefix=${PREFIX:-/usr/local}
libdir=${LIBDIR:-$prefix/lib}
includedir=${INCLUDEDIR:-$prefix/include}
profile=${PROFILE:-release}
for each in "$prefix" "$libdir" "$includedir"; do
    case $each in
    /*) ;;
    *)
        echo "install-c: \`$each\` must be an absolute path" >&2
        exit 2
        ;;
    esac
done
number() { sed -n "s/^#define SOJOURN_VERSION_$1 //p" include/sojourn_aqm.h; }
major=$(number MAJOR)
minor=$(number MINOR)
version=$major.$minor.$(number PATCH)
# SemVer: with major version 0, another minor version is another interface.
if [ "$major" = 0 ]; then interface=0.$minor; else interface=$major; fi

name=libsojourn_aqm_c
cargo build --quiet --package sojourn-capi --lib --profile "$profile"
target=${CARGO_TARGET_DIR:-$(cargo metadata --no-deps --format-version 1 |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')}
if [ "$profile" = dev ]; then built=$target/debug; else built=$target/$profile; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Cargo gives its shared library no soname, so this one is linked from the static library. Tests
# link cargo's in place, where no file is named as a soname would be.
case $(uname -s) in
Linux | *BSD)
    file=$name.so.$version soname=$name.so.$interface plain=$name.so
    echo '{ global: sojourn_*; local: *; };' >"$work/exports"
    cc -shared "-Wl,-soname,$soname" "-Wl,--version-script=$work/exports" -Wl,--gc-sections \
        -Wl,--whole-archive "$built/$name.a" -Wl,--no-whole-archive -lpthread -ldl -lm \
        -o "$work/$file"
    ;;
Darwin) # Not tested.
    file=$name.$version.dylib soname=$name.$interface.dylib plain=$name.dylib
    cc -dynamiclib "-Wl,-install_name,$libdir/$soname" '-Wl,-exported_symbol,_sojourn_*' \
        "-Wl,-force_load,$built/$name.a" -o "$work/$file"
    ;;
*)
    echo "install-c: knows Linux, BSD and macOS; on $(uname -s) use \`cargo build\`" >&2
    exit 2
    ;;
esac

root=${DESTDIR:-}
mkdir -p "$root$libdir/pkgconfig" "$root$includedir"
install -m 644 include/sojourn_aqm.h "$root$includedir/"
install -m 644 "$built/$name.a" "$root$libdir/"
install -m 755 "$work/$file" "$root$libdir/"
ln -sf "$file" "$root$libdir/$soname"
ln -sf "$soname" "$root$libdir/$plain"
cat >"$work/sojourn-aqm.pc" <<END
prefix=$prefix
libdir=$libdir
includedir=$includedir

Name: sojourn-aqm
Description: AQMs: CoDel, PIE, FQ-CoDel, CAKE, DualPI2 and others behind one handle
Version: $version
Cflags: -I"\${includedir}"
Libs: -L"\${libdir}" -lsojourn_aqm_c
Libs.private: -lpthread -ldl -lm
END
install -m 644 "$work/sojourn-aqm.pc" "$root$libdir/pkgconfig/"
echo "sojourn-aqm $version, soname $soname, is in $root$libdir"
