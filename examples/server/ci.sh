#!/usr/bin/env bash
# A recipe for CI: one device server, two jobs beside each other, each on a module of its own.
#   PYTHON=.venv/bin/python examples/server/ci.sh
# Exit code 0: both jobs ended well and gave their modules back.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-python}
export PYTHONPATH=$PWD
hpu() { "$python" -m habana_frameworks.tensorflow "$@"; }
job() { "$python" "examples/$1" "${@:2}"; }

directory=$(mktemp -d)
# Not by the function, whose process id would be a shell's.
"$python" -m habana_frameworks.tensorflow serve --modules 2 --listen "unix:$directory/server" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" || true; rm -rf "$directory"' EXIT

export HPU_BACKEND=grpc+unix:$directory/server
until hpu smi -L 2>/dev/null; do # answers as soon as the server does
  kill -0 "$server" # or it did not start, and has said why
  sleep 0.5
done

job digits_custom_loop.py --epochs 4 >"$directory/one.log" 2>&1 &
one=$!
job digits_resume.py --epochs 4 --checkpoints "$directory/checkpoints" >"$directory/two.log" 2>&1 &
two=$!
failed=0
wait "$one" || failed=1
wait "$two" || failed=1
for log in one two; do
  echo "--- job $log"
  tail -n 20 "$directory/$log.log"
done

held() { hpu smi -Q pid --format=csv,noheader | grep -v N/A; }

echo "--- the server afterwards"
for _ in {1..20}; do # it may notice a moment after a job's end
  held >/dev/null || break
  sleep 0.5
done
hpu smi -q
if held; then
  echo "a module is still held" >&2
  failed=1
fi
exit "$failed"
