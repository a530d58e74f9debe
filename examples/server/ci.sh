#!/usr/bin/env bash
# CI script: starts one device server and two concurrent jobs, each on its own module.
#   PYTHON=.venv/bin/python examples/server/ci.sh
# Exit code 0: both jobs succeeded and released their modules.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-python}
export PYTHONPATH=$PWD
hpu() { "$python" -m habana_frameworks.tensorflow "$@"; }
job() { "$python" "examples/$1" "${@:2}"; }

directory=$(mktemp -d)
# Does not use hpu(), because $! would then be the process id of a subshell.
"$python" -m habana_frameworks.tensorflow serve --modules 2 --listen "unix:$directory/server" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" || true; rm -rf "$directory"' EXIT

export HPU_BACKEND=grpc+unix:$directory/server
until hpu smi -L 2>/dev/null; do # succeeds once the server listens
  kill -0 "$server" # fails if the server has ended; its error is in the output
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
for _ in {1..20}; do # the server may release a module with a delay
  held >/dev/null || break
  sleep 0.5
done
hpu smi -q
if held; then
  echo "a module is still held after the jobs' end (process id above)" >&2
  failed=1
fi
exit "$failed"
