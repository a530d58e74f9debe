"""Writer of docs/user/keras.md from the outcomes of a sweep."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence

from tests.keras.case import Outcome, Verdict

_HEAD = """# Keras on the HPU

What of tf.keras 2.15 runs on the HPU, found by running it: `make keras` calls each public layer, activation, loss,
metric, optimizer, schedule, initializer, regularizer, constraint and backend function in a `tf.function` on the CPU and
on the HPU, compares results, gradients and updated weights, and counts where the ops of the graph were. Preprocessing
layers are among the layers. This page is what it wrote; `make keras KERAS_ARGS=--check` runs it again and fails where
the page is wrong.

A case counts as *wholly on the HPU* if each op of its graph that computes something was there, none by its CPU kernel,
and no cluster fell back. Random numbers count by their mean and deviation. Tolerances: `tests/keras/case.py`.

Keras here is tf.keras, which is the package `keras` 2.15. Stand-alone Keras 3 is another program:
`load_habana_module()` and `hpu doctor` name it if it is in use.

What a model of these costs is another question: `hpu explain` ([explain.md](explain.md)) answers it for a program.
"""


def write(outcomes: Sequence[Outcome], same: Mapping[str, Sequence[str]]) -> str:
    """Returns the page. `same`: aliases by title of a case."""
    compared = [outcome for outcome in outcomes if outcome.verdict is not Verdict.HOST]
    lines = [_HEAD, "## Figures", "", "| part | cases | wholly on the HPU | partly on the CPU | wrong or failed |",
             "|---|---|---|---|---|"]  # fmt: skip
    for kind, group in [*_by_kind(compared).items(), ("**all**", compared)]:
        counts = collections.Counter(outcome.verdict for outcome in group)
        bad = counts[Verdict.WRONG] + counts[Verdict.FAILED]
        share = f"{counts[Verdict.HPU]} ({100 * counts[Verdict.HPU] / len(group):.0f} %)"
        lines.append(f"| {kind} | {len(group)} | {share} | {counts[Verdict.PARTLY]} | {bad} |")
    lines += ["", "## Not wholly on the HPU", ""]
    rest = [outcome for outcome in outcomes if outcome.verdict is not Verdict.HPU]
    lines += ["| what | ops on the HPU | why |", "|---|---|---|", *map(_row, rest)] if rest else ["Nothing."]
    for kind, group in _by_kind(outcome for outcome in outcomes if outcome.verdict is Verdict.HPU).items():
        lines += ["", f"## Wholly on the HPU: {kind}", "", _wrapped(_names(group, same))]
    return "\n".join(lines) + "\n"


def _by_kind(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    kinds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kinds.setdefault(_split(outcome.title)[0], []).append(outcome)
    return kinds


def _split(title: str) -> tuple[str, str]:
    """Splits a title into kind and name: the kind of optimizers.legacy.Adam (clipped) is optimizers.legacy."""
    name, _, variant = title.partition(" (")
    kind, _, name = name.rpartition(".")
    return kind, f"{name} ({variant}" if variant else name


def _row(outcome: Outcome) -> str:
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
        name, _, variant = _split(outcome.title)[1].partition(" (")
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
