#!/usr/bin/env bash
# What `make` does before anything else on a machine that has nothing yet.
#   setup.sh system         a C++ compiler and gRPC's C++ library
#   setup.sh tests          GoogleTest, and openssl for certificates
#   setup.sh bench          Google Benchmark
#   setup.sh mpi            Open MPI
#   setup.sh venv DIR       a virtual environment of a supported Python in DIR ($BASE_PYTHON, if set, must be that Python)
# Missing system packages are installed when the user may (root, or sudo without a password), else named in one line.
set -euo pipefail

fail() { echo "setup: $*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
  command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
}

install_packages() {
  may_install || fail "missing system packages; run: sudo apt-get install $*"
  echo "setup: installing $*"
  as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null ||
    fail "apt-get could not install: $*"
}

# What builds the plugin and libhpu_remote.so.
install_system() {
  local missing=()
  compiles 'int main() {}' || missing+=(g++ libc6-dev binutils)
  command -v pkg-config >/dev/null || missing+=(pkg-config)
  compiles '#include <grpcpp/generic/generic_stub.h>' || missing+=(libgrpc++-dev)
  [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
}

install_tests() {
  local missing=()
  compiles '#include <gtest/gtest.h>' || missing+=(libgtest-dev)
  command -v openssl >/dev/null || missing+=(openssl)
  [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
}

compiles() { echo "$1" | g++ -std=c++17 -x c++ -fsyntax-only - 2>/dev/null; }

# Prints every interpreter on PATH that may serve, best first. A name may be a shim in front of a real one, so all of
# PATH is looked at.
candidates() {
  local name
  if [ -n "${BASE_PYTHON:-}" ]; then echo "$BASE_PYTHON"; return; fi
  for name in python3.11 python3.10 python3.9 python3; do type -aP "$name" || true; done
}

supported() {
  "$1" -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] < (3, 12))' >/dev/null 2>&1
}

# ensurepip is in a package of its own on Debian and Ubuntu (python3-venv).
usable() { supported "$1" && "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

first_that() {
  local python
  while read -r python; do
    if "$1" "$python"; then echo "$python"; return 0; fi
  done < <(candidates)
  return 1
}

find_or_install_python() {
  local python version own
  if first_that usable; then return; fi
  if python=$(first_that supported); then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    install_packages "python$version-venv" >&2
  elif command -v apt-get >/dev/null && [ -z "${BASE_PYTHON:-}" ]; then
    # Images of containers come without apt's lists.
    if may_install; then as_root apt-get update -qq || true; fi
    # The system's own comes first: of others, Ubuntu 22.04 has release candidates.
    own=$(apt-cache show python3 2>/dev/null | sed -n 's/^Version: \(3\.[0-9]*\).*/\1/p' | head -n 1)
    for version in $own 3.11 3.10 3.9; do
      [[ $version =~ ^3\.(9|10|11)$ ]] || continue
      if apt-cache show "python$version-venv" >/dev/null 2>&1; then
        install_packages "python$version" "python$version-venv" >&2
        break
      fi
    done
  fi
  first_that usable
}

# A machine whose only Python is too new (Ubuntu 24.04): uv, from PyPI, fetches one that is not and prints where it is.
# The venv is made as ever: uv's own would ask PyPI for pip, past the proxy and the certificates that pip is set up for.
fetched_python() {
  local uv python
  if ! uv=$(command -v uv); then
    if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
      may_install && install_packages python3-venv >&2 || return 1
    fi
    python3 -m venv "$1" && "$1/bin/pip" -q --disable-pip-version-check install uv >&2 || return 1
    uv=$1/bin/uv
  fi
  echo "setup: no supported Python here; uv fetches one" >&2
  UV_SYSTEM_CERTS=1 "$uv" python install 3.11 && "$uv" python find --managed-python 3.11
}

make_venv() {
  local python
  python=$(find_or_install_python) || { [ -z "${BASE_PYTHON:-}" ] && python=$(fetched_python "$1.uv"); } ||
    fail "needs Python 3.9, 3.10 or 3.11 with its venv module: Debian 12: sudo apt-get install python3-venv;" \
      "Ubuntu 24.04: sudo add-apt-repository ppa:deadsnakes/ppa && sudo apt-get install python3.11-venv;" \
      "elsewhere: install one, then BASE_PYTHON=/path/to/python3.11 make"
  echo "setup: virtual environment $1 of $("$python" --version) ($python)"
  "$python" -m venv "$1"
}

case "${1:-}" in
  system) install_system ;;
  tests) install_tests ;;
  bench) compiles '#include <benchmark/benchmark.h>' || install_packages libbenchmark-dev ;;
  mpi) command -v mpicxx >/dev/null || install_packages libopenmpi-dev openmpi-bin ;;
  venv) make_venv "${2:?directory}" ;;
  *) fail "usage: setup.sh system | tests | bench | mpi | venv DIR" ;;
esac
