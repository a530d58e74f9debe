"""`hpu ops`: shows whether ops run on the HPU, with which types, and why not."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import enum
import fnmatch
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow._internal import text as texts
from habana_frameworks.tensorflow._internal.version import REPORT_BUG
from habana_frameworks.tensorflow.cli import program

if TYPE_CHECKING:
    from habana_frameworks.tensorflow.op_registry import RegisteredOp

_COMMAND = "hpu ops"
_MAX_SUGGESTIONS = 5
OFF_HPU = 1


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "ops",
        help="tell whether ops run on the HPU, with which types, and why not",
        description="Describes ops by TensorFlow's registry, the facts of the graph passes and the card's op list. "
        "Without NAME and --family, counts the ops of each family. Exit code 0: all these ops run on the HPU; 1: some "
        "do not; 2: wrong usage, or no such op.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="op types, such as Conv2D, or functions, such as tf.nn.conv2d; with * and ? a pattern",
    )
    parser.add_argument("--family", metavar="FAMILY", help="ops of a family only, such as nn or image")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the ops, and returns the exit code."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # keeps TensorFlow's log out of the command's output
    if not program.load(_COMMAND):
        return 2
    from habana_frameworks.tensorflow import op_registry

    known = op_registry.ops()
    found, problems = _select(known, arguments.names, arguments.family)
    if found:
        _print(found, arguments)
    for problem in problems:
        print(f"{_COMMAND}: {problem}", file=sys.stderr)
    if problems:
        return 2
    return int(bool(arguments.names or arguments.family) and not all(op.place.is_hpu for op in found))


def _select(
    known: Mapping[str, RegisteredOp], names: Sequence[str], family: str | None
) -> tuple[list[RegisteredOp], list[str]]:
    """Returns the ops in the order of names, and a problem for each name or family without an op."""
    families = {op.family for op in known.values()}
    if family is not None and family not in families:
        return [], [f"no family {family}{_nearest(family, families)}; `hpu ops` lists the families"]
    found: list[RegisteredOp] = []
    problems = []
    for name in dict.fromkeys(names or ["*"]):
        matching = [op for op in _matching(known, name) if family in (None, op.family)]
        if not matching:
            where = f" in family {family}" if family else ""
            problems.append(f"no op {name}{where}{_nearest_op(name, known)}")
        found += matching
    return found, problems


def _matching(known: Mapping[str, RegisteredOp], name: str) -> Iterator[RegisteredOp]:
    if name in known:
        yield known[name]
        return
    folded = name.casefold()
    found = [op for op in known.values() if fnmatch.fnmatchcase(op.name.casefold(), folded)]
    words = _api_words(name)
    yield from found or (op for op in known.values() if _folded_op(op.name) in words)


def _folded_op(name: str) -> str:
    """Returns an op's name in lower case, without its version: "addv2" -> "add"."""
    return re.sub(r"v[0-9]+$", "", name.casefold())


def _api_words(name: str) -> tuple[str, ...]:
    """Returns possible op names, in the form of _folded_op(), of a function in TensorFlow's API.

    tf.nn.conv2d: conv2d; tf.reduce_sum: reducesum, sum.
    """
    word = name.rpartition(".")[2].casefold()
    return tuple(dict.fromkeys(part.replace("_", "") for part in (word, word.removeprefix("reduce_"))))


def _nearest_op(name: str, known: Mapping[str, RegisteredOp]) -> str:
    """Returns suggestions for an unknown name: similar ops, or ops whose name has the words of the function's."""
    if re.search(r"\bkeras\.layers\.", name) or _is_layer(name):
        return "; a layer has several ops: `hpu explain` lists the ops of a program (docs/user/keras.md)"
    if "." not in name:
        folded = {op.casefold(): op for op in known if not op.startswith("_")}
        similar = _nearest(name, folded.values())
        return similar or _hint([folded[op] for op in difflib.get_close_matches(name.casefold(), folded)])
    # Ops with the words of the function's own name. Those that begin with one come first, then those with the words of
    # the function's modules.
    *modules, own = [{re.sub("[0-9]+d?$", "", word) for word in part.split("_")} for part in name.casefold().split(".")]
    context = set().union(*modules)
    shared = {op: _words(op) for op in known if not op.startswith("_") and own <= _words(op)}
    found = sorted(
        shared,
        key=lambda op: (
            not op.casefold().startswith(tuple(own | context)),
            -len(context & shared[op]),
            "Grad" in op,
            len(op),
            op,
        ),
    )
    others = "a function may have other ops: `hpu explain` lists the ops of a program"
    return f"{_hint(found[:_MAX_SUGGESTIONS])} ({others})" if found else f"; {others}"


def _is_layer(name: str) -> bool:
    """Whether the name is that of a Keras layer."""
    import tensorflow as tf

    return isinstance(getattr(tf.keras.layers, name, None), type)


def _hint(found: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(found)}?" if found else ""


def _words(op: str) -> set[str]:
    """Returns the words of an op's name, in lower case: "ResizeArea" -> resize, area."""
    return {word.casefold() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", op)}


def _nearest(word: str, words: Any) -> str:
    return _hint(difflib.get_close_matches(word, list(words), n=_MAX_SUGGESTIONS))


def _print(found: Sequence[RegisteredOp], arguments: argparse.Namespace) -> None:
    from habana_frameworks.tensorflow.op_registry import text

    if arguments.json:
        print(json.dumps({"ops": [dataclasses.asdict(op) for op in found]}, indent=1, default=_plain))
    elif not arguments.names and arguments.family is None:
        print(*texts.table(text.FAMILY_HEADS, text.families(found)), sep="\n")
    elif len(found) <= len(arguments.names):
        print(*(line for op in found for line in text.describe(op)), sep="\n")
    else:
        print(*text.rows(found), sep="\n")


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    raise TypeError(f"cannot write {type(value).__name__} as JSON; {REPORT_BUG}")
