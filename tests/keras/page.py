"""Writer of docs/user/keras.md from the outcomes of a sweep."""

from __future__ import annotations

import collections
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence

from tests.keras.case import Outcome, Verdict

_HEAD = """# Keras on the HPU

## Keras 2, Keras 3 and tf_keras

`tf.keras` is Keras 2 in TensorFlow 2.15 and Keras 3 in TensorFlow 2.21. With TensorFlow 2.21, the package `tf_keras`
offers Keras 2: install it with `pip install --no-deps tf_keras==2.21.0`, and set `TF_USE_LEGACY_KERAS=1` before the
first use of `tf.keras`.

| | Keras 2, tf_keras | Keras 3 with TensorFlow as its backend |
|---|---|---|
| Eager calls with one fused op | `LayerNormalization`, `activations.gelu` | also `ops.gelu`, `activation="gelu"` |
| `jit_compile="auto"` | does not exist | False: the graph passes form clusters, also around ops that do not compile |
| `jit_compile=True` | has no effect | compiles the train step as a whole; an op that does not compile is an error |
| `TF_ENABLE_AUTO_MIXED_PRECISION=1` | scales the loss | scales the loss, unless `compile(auto_scale_loss=False)` |
| `HabanaEstimator` | TensorFlow 2.15 only | raises an error that names the alternatives |

A Keras 3 with another backend (`KERAS_BACKEND=jax`) is left alone. If the installed `keras` has another major version
than `tf.keras`, `load_habana_module()` and `hpu doctor` warn. `load_habana_module(allow_op_override=False)` changes
nothing in Keras: there, `jit_compile="auto"` of Keras 3 is True.

## What was measured

Support of tf.keras 2.15 on the HPU, measured by `make keras`. It calls each public layer (preprocessing included),
activation, loss, metric, optimizer, schedule, initializer, regularizer, constraint and backend function in a
`tf.function` on the CPU and on the HPU. It compares results, gradients and updated weights, counts the ops on each
device, and writes this page. `make keras KERAS_ARGS=--check` repeats the run and fails if the page is outdated.
`make test` repeats every eighth case of each part.

A case counts as *wholly on the HPU* if all computing ops of its graph ran on the HPU, none with its CPU kernel, and no
cluster fell back. For random numbers, only mean and deviation are compared. Tolerances: `tests/keras/case.py`.

The sweep leaves out what runs around models, mostly with NumPy or strings on the CPU, as it should: `utils`,
`preprocessing` (images, texts, sequences), `experimental` and `datasets`. `tests/keras/test_other_parts.py` trains
models on the HPU with what they return. `applications`: one model of each family computes and trains as on the CPU
(`tests/keras/test_applications.py`; in `make test` only the smallest).

`hpu explain` ([explain.md](explain.md)) reports the placement and cost of a program's ops.
"""
_DATE = re.compile(r"^Run on .*\n", re.MULTILINE)


def write(outcomes: Sequence[Outcome], same: Mapping[str, Sequence[str]], date: datetime.date) -> str:
    """Returns the page. `same`: aliases by title of a case. `date`: day of the run."""
    compared = [outcome for outcome in outcomes if outcome.verdict is not Verdict.HOST]
    lines = [_HEAD, "## Figures", "", f"Run on {date.isoformat()}.", ""]
    lines += ["| part | cases | wholly on the HPU | partly on the CPU | wrong or failed |", "|---|---|---|---|---|"]
    for kind, group in [*_by_kind(compared).items(), ("**all**", compared)]:
        counts = collections.Counter(outcome.verdict for outcome in group)
        bad = counts[Verdict.WRONG] + counts[Verdict.FAILED]
        share = f"{counts[Verdict.HPU]} ({100 * counts[Verdict.HPU] / len(group):.0f} %)"
        lines.append(f"| {kind} | {len(group)} | {share} | {counts[Verdict.PARTLY]} | {bad} |")
    lines += ["", "## Not wholly on the HPU", ""]
    rest = [outcome for outcome in outcomes if outcome.verdict is not Verdict.HPU]
    lines += ["| what | ops on the HPU | why |", "|---|---|---|", *map(row, rest)] if rest else ["Nothing."]
    for kind, group in _by_kind(outcome for outcome in outcomes if outcome.verdict is Verdict.HPU).items():
        lines += ["", f"## Wholly on the HPU: {kind}", "", _wrapped(_names(group, same))]
    return "\n".join(lines) + "\n"


def _by_kind(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    kinds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kinds.setdefault(split(outcome.title)[0], []).append(outcome)
    return kinds


def split(title: str) -> tuple[str, str]:
    """Splits a title into kind and name: the kind of optimizers.legacy.Adam (clipped) is optimizers.legacy."""
    name, _, variant = title.partition(" (")
    kind, _, name = name.rpartition(".")
    return kind, f"{name} ({variant}" if variant else name


def without_date(text: str) -> str:
    """Returns the text of a page without the day of its run."""
    return _DATE.sub("", text)


def agrees(text: str, outcome: Outcome) -> bool:
    """Whether a page has this outcome of a case. The page must be of the same cases."""
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    return rows.get(outcome.title) == (None if outcome.verdict is Verdict.HPU else row(outcome))


def row(outcome: Outcome) -> str:
    """Returns the line of a case that is not wholly on the HPU."""
    why = "; ".join(reason[:150] + ("…" if len(reason) > 150 else "") for reason in outcome.reasons[:3]) + (
        "; …" if len(outcome.reasons) > 3 else ""
    )
    ops = "" if outcome.verdict in (Verdict.HOST, Verdict.FAILED) else f"{outcome.hpu_ops} of {outcome.ops}"
    mark = {Verdict.WRONG: "**wrong**: ", Verdict.FAILED: "**fails**: "}.get(outcome.verdict, "")
    return f"| `{outcome.title}` | {ops} | {mark}{why.replace('|', '/')} |"


def _names(group: Iterable[Outcome], same: Mapping[str, Sequence[str]]) -> list[str]:
    names = []
    for outcome in group:
        also = f" = {' = '.join(f'`{name}`' for name in same[outcome.title])}" if same.get(outcome.title) else ""
        name, _, variant = split(outcome.title)[1].partition(" (")
        names.append(f"`{name}`{' (' + variant if variant else ''}{also}")
    return names


def _wrapped(words: Sequence[str]) -> str:
    lines, line = list[str](), ""
    for index, word in enumerate(words):
        word += "," if index + 1 < len(words) else "."
        if line and len(line) + len(word) + 1 > 118:
            lines, line = [*lines, line], ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])
