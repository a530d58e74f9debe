#!/usr/bin/env bash
# Installs the tools and libraries that `make` needs. Each command is a no-op if nothing is missing.
#   setup.sh system         a C++ compiler and gRPC's C++ library
#   setup.sh tests          GoogleTest, and openssl for certificates
#   setup.sh bench          Google Benchmark
#   setup.sh mpi            Open MPI
#   setup.sh venv DIR       a virtual environment of a supported Python in DIR ($BASE_PYTHON, if set, must be that Python;
#                           $TF, if set, is the TensorFlow release that must have a package for it)
# Installs missing system packages as root, or with sudo if sudo needs no password. Otherwise prints the apt-get command.
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

# Compiler and libraries for the plugin and libhpu_remote.so.
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

# The minor versions of Python 3 that $TF, or any release, has a package for, best first
# (habana_frameworks/tensorflow/_internal/releases.py).
case "${TF:-}" in
  2.15.1) minors=(11 10 9) ;;
  2.21.0) minors=(12 13 11 10) ;;
  "") minors=(11 10 9 13 12) ;;
  *) fail "no support for TensorFlow $TF: TF may be 2.15.1 or 2.21.0" ;;
esac

# Prints candidate interpreters, best first. Searches all of PATH, because the first match may be a shim that hides the
# real interpreter.
candidates() {
  local name
  if [ -n "${BASE_PYTHON:-}" ]; then echo "$BASE_PYTHON"; return; fi
  for name in "${minors[@]/#/python3.}" python3; do type -aP "$name" || true; done
}

supported() {
  "$1" -c 'import sys; v, *minors = sys.argv; sys.exit(str(sys.version_info[1]) not in minors)' "${minors[@]}" >/dev/null 2>&1
}

# Debian and Ubuntu ship ensurepip in a separate package (python3-venv).
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
    # Container images lack apt's package lists.
    if may_install; then as_root apt-get update -qq || true; fi
    # The system's version comes first, because Ubuntu 22.04 has only release candidates of newer versions.
    own=$(apt-cache show python3 2>/dev/null | sed -n 's/^Version: \(3\.[0-9]*\).*/\1/p' | head -n 1)
    for version in $own "${minors[@]/#/3.}"; do
      [[ " ${minors[*]/#/3.} " == *" $version "* ]] || continue
      if apt-cache show "python$version-venv" >/dev/null 2>&1; then
        install_packages "python$version" "python$version-venv" >&2
        break
      fi
    done
  fi
  first_that usable
}

# For a machine whose only Python is too new: uv, from PyPI, downloads a supported Python and prints its
# path. python -m venv creates the environment, because uv would fetch pip without pip's proxy and certificate settings.
fetched_python() {
  local uv python
  if ! uv=$(command -v uv); then
    if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
      may_install && install_packages python3-venv >&2 || return 1
    fi
    python3 -m venv "$1" && "$1/bin/pip" -q --disable-pip-version-check install uv >&2 || return 1
    uv=$1/bin/uv
  fi
  echo "setup: no supported Python found; downloading Python 3.${minors[0]} with uv" >&2
  UV_SYSTEM_CERTS=1 "$uv" python install "3.${minors[0]}" && "$uv" python find --managed-python "3.${minors[0]}"
}

make_venv() {
  local python
  python=$(find_or_install_python) || { [ -z "${BASE_PYTHON:-}" ] && python=$(fetched_python "$1.uv"); } ||
    fail "needs Python ${minors[*]/#/3.} with its venv module: Debian, Ubuntu: sudo apt-get install python3-venv;" \
      "elsewhere: install Python 3.${minors[0]}, then run BASE_PYTHON=/path/to/python3.${minors[0]} make"
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
