#!/usr/bin/env bash
# Builds Horovod's source distribution for an interpreter's TensorFlow, and installs it there. Always includes Gloo, and
# includes MPI if mpicxx exists. Takes minutes. A failed build leaves its output in build/horovod.log.
#   build_horovod.sh PYTHON [JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:?interpreter}
log=build/horovod.log
mkdir -p build
export PIP_DISABLE_PIP_VERSION_CHECK=1

if command -v mpicxx >/dev/null; then
  export HOROVOD_WITH_MPI=1
  with="Gloo and MPI"
else
  export HOROVOD_WITHOUT_MPI=1
  with="Gloo; for MPI: apt-get install libopenmpi-dev openmpi-bin, then make horovod again"
fi
export HOROVOD_WITH_GLOO=1 HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1
export MAKEFLAGS="-j${2:-$(nproc)}" LDFLAGS=-s
export CMAKE_TOOLCHAIN_FILE=$PWD/tools/horovod_toolchain.cmake

build() {
  # --no-cache-dir: pip's cached wheel may be built for another TensorFlow.
  "$python" -m pip install -q -r requirements/horovod-build.txt &&
    "$python" -m pip install --no-build-isolation --no-cache-dir --force-reinstall --no-deps --no-binary horovod \
      "$(grep '^horovod==' requirements/horovod.txt)" &&
    "$python" -c 'import horovod.tensorflow'
}

echo "horovod: building with $with"
if ! build >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "horovod: the build failed; see $log" >&2
  exit 1
fi
rm -f "$log"
