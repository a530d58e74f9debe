"""Sentences and figures that the text and the page of a report share."""

from __future__ import annotations

import pathlib
import shlex

from habana_frameworks.tensorflow._internal.text import number, size
from habana_frameworks.tensorflow.cli.report.model import (
    Memory,
    Placement,
    PlacementException,
    Program,
    Recipes,
    Steps,
    TimeShare,
)

_MAX_OPS = 4
_EVENTS = {
    "cluster": "launch",
    "eager": "launch",
    "collective": "exchange",
    "copy": "copy",
    "compile": "compile",
    "cpu": "run",
    "input": "element",
    "tracing": "trace",
}


def command(program: Program) -> str:
    """The program with its arguments, as typed in a shell."""
    return shlex.join([program.script, *program.arguments])


def location(source_line: str, script: str) -> str:
    """A line "file:line" with a path relative to the program's directory, if the file is in it."""
    file, _, line = source_line.rpartition(":")
    folder = pathlib.Path(script).resolve().parent
    path = pathlib.Path(file).resolve()
    return f"{path.relative_to(folder) if path.is_relative_to(folder) else path}:{line}"


def seconds(value: float) -> str:
    """A time span with three digits or more: "1.23 ms", "12.3 s"."""
    if value < 1:
        return f"{1e3 * value:.2f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def details(part: TimeShare) -> str:
    """Events of a part, with the time that also counts for other parts: "20 copies, 1.2 MB, 3.10 ms in all"."""
    if part.count is None or part.busy_seconds is None:
        return ""
    word = _EVENTS[part.kind]
    many = "copies" if word == "copy" else word + ("es" if word.endswith("ch") else "s")
    texts = [number(part.count, word, many)]
    if part.bytes:
        texts.append(size(part.bytes))
    if part.busy_seconds > 1.01 * part.seconds:
        texts.append(f"{seconds(part.busy_seconds)} in all")
    return ", ".join(texts)


def steps(found: Steps | None) -> str:
    """Number of steps and their times."""
    if found is None:
        return "Steps: none, because no cluster ran (eager ops run one by one: put the train step into a tf.function)"
    on_cpu = f", {found.fallbacks} of them on the CPU" if found.fallbacks else ""
    text = f"{number(found.count, 'step')}{on_cpu}: executions of {found.cluster}"
    median, slow = found.quantile(0.5), found.quantile(0.9)
    if median is None or slow is None:
        return text
    return f"{text}; median {seconds(median)}, 90 % within {seconds(slow)}, longest {seconds(max(found.seconds))}"


def placement(found: Placement) -> str:
    """Shares of ops on the HPU and in clusters."""
    if not found.ops:
        text = "No graph ran"
    else:
        clustered = percent(found.clustered_ops / found.ops)
        text = (
            f"{percent(found.hpu_share)} of the ops on the HPU ({found.hpu_ops} of {found.ops}), {clustered} in "
            f"{number(found.clusters, 'cluster')}, of {number(found.graphs, 'graph')}"
        )
    if found.eager_launches or found.eager_cpu_runs:
        text += (
            f"; outside clusters {number(found.eager_launches, 'launch', 'launches')} and "
            f"{number(found.eager_cpu_runs, 'run')} on the CPU, which copied {size(found.eager_copied_bytes)}"
        )
    return text


def cost(exception: PlacementException) -> str:
    """Cost of an exception: "2 ops, 1 split, 384 bytes copied"."""
    texts = [number(len(exception.ops), "op")]
    if exception.splits:
        texts.append(number(exception.splits, "split"))
    if exception.cpu_runs:
        texts.append(f"{number(exception.cpu_runs, 'run')} on the CPU")
    if exception.copied_bytes:
        texts.append(f"{size(exception.copied_bytes)} copied")
    return ", ".join(texts)


def ops(exception: PlacementException) -> str:
    """Ops of an exception, and the reason of the first one."""
    more = f" and {len(exception.ops) - _MAX_OPS} more" if len(exception.ops) > _MAX_OPS else ""
    others = f" and {number(exception.graphs - 1, 'other graph')}" if exception.graphs > 1 else ""
    return f"{', '.join(exception.ops[:_MAX_OPS])}{more} in {exception.graph}{others}: {exception.reason}"


def memory(found: Memory) -> str:
    """Peak, limit and workspace of the device memory."""
    limit = f" of {size(found.device_limit)}" if found.device_limit else ""
    workspace = f", at the end {size(found.workspace)} for temporaries" if found.workspace else ""
    return f"peak {size(found.device_peak)}{limit}{workspace}"


def recipes(found: Recipes) -> str:
    """Recipes by origin, and the time of compiling."""
    return (
        f"{found.compiled} compiled, {found.disk_hits} loaded from disk, {found.memory_hits} found in memory; "
        f"compiling took {seconds(found.compile_seconds)}"
    )
