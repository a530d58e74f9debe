"""Cases of the Keras sweep for parts of models.

Activations, losses, metrics, optimizers, schedules, initializers, regularizers, constraints.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tests.keras.case import Case, given
from tests.keras.data import floats, integers, one_hot, probabilities

K = tf.keras
NOT_CASES = {"serialize", "deserialize", "get", "experimental", "legacy", "schedules"}
BASES = {"Loss", "Reduction", "Metric", "Optimizer", "Initializer", "Regularizer", "Constraint", "MeanMetricWrapper",
         "LearningRateSchedule"}  # fmt: skip


def names(module: Any) -> dict[str, list[str]]:
    """Returns the public names of a module, each with its aliases."""
    found: dict[int, list[str]] = {}
    for name in sorted(dir(module)):
        if not name.startswith("_") and name not in NOT_CASES | BASES:
            found.setdefault(id(getattr(module, name)), []).append(name)
    return {same[0]: same[1:] for same in found.values()}


def activation_cases() -> Iterator[Case]:
    for name in names(K.activations):
        function = getattr(K.activations, name)
        original = getattr(function, "_replaced", None)
        reference = functools.partial(given, original) if original else None
        yield Case("activations", name, functools.partial(given, function), (floats(5, 7) * 2,), reference=reference)


_ROWS = 12
_BINARY = integers(_ROWS, 3, below=2).astype(np.float32)
_UNIT = probabilities(_ROWS, 3)


def _labels(name: str) -> tuple[Any, Any]:
    """Returns labels and predictions that fit a loss or metric."""
    flat = name.lower().replace("_", "")
    if flat.startswith("sparse"):
        return integers(_ROWS, below=3), _UNIT
    if "hinge" in flat and "categorical" not in flat:
        return _BINARY * 2 - 1, floats(_ROWS, 3)
    if "binary" in flat or flat in ("auc", "precision", "recall") or "at" in flat.split("precision")[-1][:2]:
        return _BINARY, _UNIT
    if flat in ("falsenegatives", "falsepositives", "truenegatives", "truepositives") or "specificity" in flat:
        return _BINARY, _UNIT
    if "recallat" in flat or "precisionat" in flat:
        return _BINARY, _UNIT
    if flat in ("iou", "meaniou"):
        return integers(_ROWS, below=3), integers(_ROWS, below=3, seed=1)
    if "categorical" in flat or "onehot" in flat or flat.startswith(("f1", "fbeta", "kl", "kullback", "topk")):
        return one_hot(_ROWS, 3), _UNIT
    return floats(_ROWS, 3, low=0.1, high=2.0), floats(_ROWS, 3, seed=1, low=0.1, high=2.0)


def loss_cases() -> Iterator[Case]:
    for name in names(K.losses):
        made = getattr(K.losses, name)
        truth, prediction = _labels(name)
        make = made if isinstance(made, type) else functools.partial(given, made)
        yield Case("losses", name, make, (truth, prediction))
        if isinstance(made, type) and "rossentropy" in name:
            logits = functools.partial(made, from_logits=True)
            yield Case("losses", name, logits, (truth, floats(_ROWS, 3)), variant="from logits")
            weighted = {"sample_weight": floats(_ROWS, low=0.0)}
            yield Case("losses", name, made, (truth, prediction), weighted, variant="weights of samples")


METRICS: dict[str, dict[str, Any]] = {
    "IoU": {"num_classes": 3, "target_class_ids": [0, 2]},
    "MeanIoU": {"num_classes": 3},
    "OneHotIoU": {"num_classes": 3, "target_class_ids": [0, 2]},
    "OneHotMeanIoU": {"num_classes": 3},
    "BinaryIoU": {"threshold": 0.4},
    "MeanRelativeError": {"normalizer": [1.0, 2.0, 3.0]},
    "PrecisionAtRecall": {"recall": 0.5},
    "RecallAtPrecision": {"precision": 0.5},
    "SensitivityAtSpecificity": {"specificity": 0.5},
    "SpecificityAtSensitivity": {"sensitivity": 0.5},
    "TopKCategoricalAccuracy": {"k": 2},
    "SparseTopKCategoricalAccuracy": {"k": 2},
}


class Updated:
    """Adapter for a metric: updates it and returns its result."""

    def __init__(self, metric: Any, arguments: dict[str, Any]) -> None:
        self._metric = metric(**arguments)

    @property
    def weights(self) -> Any:
        return self._metric.weights

    def __call__(self, *values: Any) -> Any:
        self._metric.update_state(*values)
        return self._metric.result()


def metric_cases() -> Iterator[Case]:
    losses = {id(getattr(K.losses, name)) for name in dir(K.losses)}
    for name in names(K.metrics):
        made = getattr(K.metrics, name)
        if id(made) in losses:
            continue  # an alias of a loss
        if not isinstance(made, type):
            options = {"k": 2} if "top_k" in name else {}
            yield Case("metrics", name, functools.partial(given, made), _labels(name), options, gradients=False)
            continue
        inputs = (floats(5, 3),) if name in ("Mean", "MeanTensor", "Sum") else _labels(name)
        make = functools.partial(Updated, made, METRICS.get(name, {}))
        yield Case("metrics", name, make, inputs, gradients=False)


class Trained:
    """Adapter for an optimizer: updates two variables three times with given gradients, and returns their values."""

    def __init__(self, optimizer: Any, arguments: dict[str, Any]) -> None:
        self._optimizer = optimizer(learning_rate=0.05, **arguments)
        self._variables = [tf.Variable(floats(4, 3, seed=3)), tf.Variable(floats(3, seed=4))]
        if hasattr(self._optimizer, "build"):  # legacy optimizers lack this method
            self._optimizer.build(self._variables)

    @property
    def weights(self) -> Any:
        return [*self._variables, *self._state()]

    def _state(self) -> list[Any]:
        variables = self._optimizer.variables
        return list(variables() if callable(variables) else variables)

    def __call__(self, *gradients: Any) -> Any:
        for _ in range(3):
            self._optimizer.apply_gradients(zip(gradients, self._variables))
        return [tf.identity(variable) for variable in self._variables]


def optimizer_cases() -> Iterator[Case]:
    gradients = floats(4, 3, seed=5), floats(3, seed=6)
    for kind, module in (("optimizers", K.optimizers), ("optimizers.legacy", K.optimizers.legacy)):
        options: dict[str, dict[str, dict[str, Any]]] = {
            "SGD": {"momentum": {"momentum": 0.9, "nesterov": True}},
            "Adam": {"amsgrad": {"amsgrad": True}, "clipped": {"clipnorm": 0.5}},
            "RMSprop": {"centered": {"centered": True, "momentum": 0.9}},
        }
        if kind == "optimizers":
            options["Adam"]["moving average"] = {"use_ema": True, "weight_decay": 0.01, "global_clipnorm": 0.5}
        for name in names(module):
            made = getattr(module, name)
            for variant, arguments in {"": {}, **options.get(name, {})}.items():
                make = functools.partial(Trained, made, arguments)
                traced = name == "Nadam"  # counts its steps in Python
                yield Case(kind, name, make, gradients, gradients=False, variant=variant, traced=traced)


SCHEDULES: dict[str, tuple[Any, ...]] = {
    "CosineDecay": (0.1, 10),
    "CosineDecayRestarts": (0.1, 4),
    "ExponentialDecay": (0.1, 4, 0.5),
    "InverseTimeDecay": (0.1, 4, 0.5),
    "PiecewiseConstantDecay": ([3, 6], [0.1, 0.05, 0.01]),
    "PolynomialDecay": (0.1, 10),
}


def schedule_cases() -> Iterator[Case]:
    for name in names(K.optimizers.schedules):
        made = functools.partial(getattr(K.optimizers.schedules, name), *SCHEDULES[name])
        yield Case("optimizers.schedules", name, made, (np.float32(5),), gradients=False)


INITIALIZERS: dict[str, dict[str, Any]] = {"Constant": {"value": 0.3}, "Identity": {"gain": 2.0}}
FIXED = {"Constant", "Identity", "Ones", "Zeros"}


class Initialized:
    """Adapter for an initializer: returns initial values of a fixed shape."""

    def __init__(self, initializer: Callable[[], Any]) -> None:
        self._initializer = initializer()

    def __call__(self, _: tf.Tensor) -> Any:
        return self._initializer([48, 64])


def initializer_cases() -> Iterator[Case]:
    for name in names(K.initializers):
        made = functools.partial(getattr(K.initializers, name), **INITIALIZERS.get(name, {}))
        make = functools.partial(Initialized, made)
        yield Case("initializers", name, make, (np.float32(0),), gradients=False, random=name not in FIXED)


def regularizer_cases() -> Iterator[Case]:
    for name in names(K.regularizers):
        yield Case("regularizers", name, getattr(K.regularizers, name), (floats(4, 6),))


def constraint_cases() -> Iterator[Case]:
    for name in names(K.constraints):
        shape = (3, 3, 2, 4) if name in ("RadialConstraint", "radial_constraint") else (4, 6)
        # A limit of Keras on every device.
        host = "makes a variable whenever it is called, which no tf.function can" if len(shape) == 4 else ""
        yield Case("constraints", name, getattr(K.constraints, name), (floats(*shape) * 2,), gradients=False, host=host)


def cases() -> Iterator[Case]:
    """Yields the cases of all kinds."""
    for kind in (activation_cases, loss_cases, metric_cases, optimizer_cases, schedule_cases, initializer_cases,
                 regularizer_cases, constraint_cases):  # fmt: skip
        yield from kind()
