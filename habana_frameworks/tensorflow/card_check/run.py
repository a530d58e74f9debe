"""check(): runs a function by the rules of a card. CardChecker does so for a whole program."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from habana_frameworks.tensorflow import explanation, flags, habana_device, statistics
from habana_frameworks.tensorflow._internal import cards, changing_sizes
from habana_frameworks.tensorflow._internal.card_table import CARDS, Card
from habana_frameworks.tensorflow._internal.native import plugin_library
from habana_frameworks.tensorflow.card_check import compiler, error_cause, violations
from habana_frameworks.tensorflow.card_check.model import Memory, Violation
from habana_frameworks.tensorflow.card_check.origins import Origins
from habana_frameworks.tensorflow.card_check.result import CheckResult


def settings(card: Card) -> dict[str, str]:
    """Returns the environment variables that make this process obey the rules of a card.

    Ops of unknown support stay on the HPU, so that one such op does not hide the rules that other ops break. A cluster
    that cannot be compiled or launched raises an error instead of running on the CPU.
    """
    return {
        "HPU_DEVICE_TYPE": card.type,
        "HPU_MEMORY_MB": str(card.memory_mb),
        "HPU_OP_LIST": "gaudi",
        "HPU_OP_LIST_UNKNOWN": "allow",
        "TF_CPU_RUNTIME_FALLBACK": "forbid",
        **changing_sizes.settings(),
    }


class CardChecker:
    """Checks the graphs that TensorFlow places from start() to stop(). Use one at a time.

    The settings of settings() must hold from start() to stop(). Loads the module if necessary.
    """

    def __init__(self, card: Card) -> None:
        self._card = card
        self._collector = explanation.Collector()
        self._origins = Origins()
        self._exit = contextlib.ExitStack()
        self._recipes = 0
        self._compile_seconds = 0.0

    def start(self) -> None:
        """Starts the check."""
        self._exit.enter_context(self._origins)
        self._collector.start()
        habana_device.reset_peak_memory()
        self._recipes = compiler.recipes()
        self._compile_seconds = statistics.get().compile_seconds

    def stop(self, error: BaseException | None = None) -> CheckResult:
        """Ends the check and returns its result. error: the exception with which the program ended."""
        self._exit.close()
        found = self._collector.stop()
        memory = Memory(
            peak=habana_device.memory_info().peak,
            card=self._card.memory_mb << 20,
            reserved=flags.tf_hccl_memory_allowance_mb() << 20,
        )
        return CheckResult(
            card=self._card,
            graphs=len(found.traces),
            ops=found.ops,
            hpu_ops=found.hpu_ops,
            violations=violations.sort(
                (
                    *violations.of_ops(found, self._origins),
                    *violations.of_recipes(found, self._origins),
                    *_of_error(error, memory),
                )
            ),
            narrowed=violations.narrowed(found, self._origins),
            support=violations.support(found, self._card) if self._card in CARDS else (),
            memory=memory,
            recipes=compiler.recipes() - self._recipes,
            compile_seconds=statistics.get().compile_seconds - self._compile_seconds,
            compiler=compiler.of_run(found),
        )


def _of_error(error: BaseException | None, memory: Memory) -> Iterator[Violation]:
    """Yields a violation if the program exceeded the memory or ended with another error."""
    import tensorflow as tf

    if error is None:
        yield from violations.of_memory(memory, "", None)
        return
    text, line = error_cause.cause(error), error_cause.line(error)
    if isinstance(error, tf.errors.ResourceExhaustedError):
        yield from violations.of_memory(memory, text, line)
    else:
        yield violations.of_error(text, line)


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def check(fn: Callable[..., Any], *args: Any, card: str = "gaudi2", **kwargs: Any) -> CheckResult:
    """Calls `fn` once by the rules of a card and returns the rules that it breaks.

    fn: a tf.function or a Python function, which is converted to a tf.function. The call has its usual side effects,
    such as updates of variables. A tf.function that has already run is replaced by a new tf.function of the same Python
    function, because TensorFlow places a graph only once.

    args: variables that exist before the call keep their device. Call load_habana_module() before creating tensors.

    card: gaudi, gaudi2 or gaudi3.

    Raises ValueError for another card, and the exceptions of fn except RESOURCE_EXHAUSTED, which breaks the rule
    `memory`.
    """
    import tensorflow as tf

    found = cards.find(card)
    if found is None:
        raise ValueError(f"no card {card!r}: pass {', '.join(each.option for each in CARDS)}")
    plugin_library.load()
    error: BaseException | None = None
    with _environment(settings(found)):
        checker = CardChecker(found)
        checker.start()
        try:
            explanation.untraced(fn)(*args, **kwargs)
        except tf.errors.ResourceExhaustedError as exhausted:
            error = exhausted
        finally:
            result = checker.stop(error)
    return result
