#!/bin/sh
# Installs the libraries that the `peers` program compares with, by package name, into
# benchmarks/peers/build. Run again to update; name peers to install only those:
#   benchmarks/install-peers.sh                  # all
#   benchmarks/install-peers.sh openblas mkl     # two of them
# The newest build that the package registries offer is taken: wheels from the Python index where
# they are newer than the distribution's packages, which are the second choice.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build="$here/peers/build"
python=${PYTHON:-python3}
failed=""
mkdir -p "$build/wheels"

# wheel PEER PACKAGE PATTERN...: unpacks the files matching PATTERN of a wheel, flat, into build/PEER.
wheel() {
    peer=$1 package=$2
    shift 2
    rm -rf "$build/wheels/$package" && mkdir -p "$build/wheels/$package" "$build/$peer"
    "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$build/wheels/$package" "$package" || return 1
    "$python" - "$build/wheels/$package" "$build/$peer" "$@" <<'PYTHON'
import fnmatch, os, shutil, sys, zipfile
wheels, target, patterns = sys.argv[1], sys.argv[2], sys.argv[3:]
found = 0
for wheel in os.listdir(wheels):
    with zipfile.ZipFile(os.path.join(wheels, wheel)) as archive:
        for entry in archive.namelist():
            base = os.path.basename(entry)
            if any(fnmatch.fnmatch(base, pattern) for pattern in patterns):
                with archive.open(entry) as source, open(os.path.join(target, base), "wb") as copy:
                    shutil.copyfileobj(source, copy)
                found += 1
    print(f"{wheel}: {found} files")
sys.exit(found == 0)
PYTHON
    status=$?
    rm -rf "$build/wheels/$package"
    return $status
}

# distribution PACKAGE...: installs packages of the Debian family where that is possible.
distribution() {
    command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" = 0 ]; then
        apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"
    else
        echo "not root: run  apt-get install $*" >&2
        return 1
    fi
}

install_openblas() {
    wheel openblas scipy-openblas32 'libscipy_openblas*' 'libgfortran*' 'libquadmath*' \
        || distribution libopenblas0-pthread
}

install_mkl() {
    wheel mkl mkl 'libmkl_rt.so*' 'libmkl_core.so*' 'libmkl_intel_lp64.so*' 'libmkl_intel_thread.so*' \
        'libmkl_sequential.so*' 'libmkl_def.so*' 'libmkl_mc3.so*' 'libmkl_avx*.so*' \
        && wheel mkl intel-openmp 'libiomp5.so'
}

# The primitive interface needs a build with an OpenMP pool: PaddlePaddle's wheel carries the newest
# one, onednn-cpu-gomp an older one.
install_onednn() {
    wheel onednn paddlepaddle 'libdnnl.so.3' || wheel onednn onednn-cpu-gomp 'libdnnl.so.3'
}

# The vendor's newest build schedules over SYCL and needs that run time beside it; its sgemm call
# runs on the CPU directly.
install_onednn_latest() {
    wheel onednn-latest onednn 'libdnnl.so.3' \
        && wheel onednn-latest intel-sycl-rt 'libsycl.so.*[0-9]' \
        && wheel onednn-latest tbb 'libtbb.so.12' 'libtbbmalloc.so.2' 'libtbbbind*' \
        && wheel onednn-latest intel-cmplr-lib-rt 'libsvml.so' 'libimf.so' 'libintlc.so.5' 'libirng.so' \
        && wheel onednn-latest intel-cmplr-lib-ur 'libur_loader.so.0' \
        && wheel onednn-latest umf 'libumf.so.1' \
        && wheel onednn-latest tcmlib 'libtcm.so.1' 'libhwloc.so.15'
}

# AMD's BLIS (AOCL-BLAS), as carried by AOCL's data-analytics wheel.
install_aocl() {
    wheel aocl aoclda 'libblis-mt*' 'libomp-*'
}

# The crate blis-src carries the sources of BLIS; it is newer than the distribution's package.
install_blis() {
    work="$build/blis-source"
    mkdir -p "$work/src" "$build/blis"
    cat >"$work/Cargo.toml" <<'TOML'
[package]
name = "blis-build"
version = "0.0.0"
edition = "2024"
[dependencies]
blis-src = { version = "0.2", default-features = false, features = ["openmp", "cblas"] }
[workspace]
TOML
    echo 'fn main() {}' >"$work/src/main.rs"
    (cd "$work" && cargo build --quiet --release --target-dir target) \
        && find "$work/target" -name 'libblis.so*' -path '*/out/lib/*' -exec cp -L {} "$build/blis/" \; \
        && rm -rf "$work" && [ -e "$build/blis/libblis.so.4" ] \
        || distribution libblis4-openmp
}

# The distribution has libxsmm as static archives: link them to one shared library. Instead of a
# BLAS library, to which libxsmm hands what it has no kernel for, calls are counted, so that `peers`
# sees them.
install_libxsmm() {
    distribution libxsmm-dev || [ -e /usr/lib/libxsmm.a ] || return 1
    mkdir -p "$build/libxsmm"
    archives=$(dirname "$(find /usr/lib -name libxsmmext.a | head -n 1)")
    cat >"$build/libxsmm/blas.c" <<'C'
int peers_blas_calls;
#define COUNTED(name) void name(void) { ++peers_blas_calls; }
COUNTED(sgemm_) COUNTED(dgemm_) COUNTED(sgemv_) COUNTED(dgemv_) COUNTED(sgemm_batch_) COUNTED(dgemm_batch_)
C
    "${CC:-cc}" -shared -fPIC -fopenmp -o "$build/libxsmm/libxsmm.so" "$build/libxsmm/blas.c" \
        -Wl,--whole-archive "$archives/libxsmm.a" "$archives/libxsmmext.a" -Wl,--no-whole-archive \
        -Wl,-z,defs -lpthread -ldl -lm -lrt
}

[ $# -gt 0 ] || set -- openblas mkl onednn onednn_latest aocl blis libxsmm
for peer in "$@"; do
    peer=$(echo "$peer" | tr - _)
    echo "== $peer"
    "install_$peer" || failed="$failed $peer"
done
rmdir "$build/wheels" 2>/dev/null
[ -z "$failed" ] || { echo "not installed:$failed" >&2; exit 1; }
