#!/usr/bin/env bash
# CI script: checks a program by the rules of a card, then trains it by these rules.
#   PYTHON=.venv/bin/python examples/ci/check.sh [card [page]]
# Exit code 0: the program keeps the rules of the card (gaudi2 by default), and trains.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-python}
card=${1:-gaudi2}
page=${2:-check.html}
export PYTHONPATH=$PWD

"$python" -m habana_frameworks.tensorflow check --card "$card" --html "$page" examples/digits_keras.py --epochs 1
HPU_DEVICE_TYPE=${card^^} HPU_CARD_RULES=on "$python" examples/digits_custom_loop.py --epochs 4
