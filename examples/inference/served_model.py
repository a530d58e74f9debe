"""SavedModel that maps rows to rows, as in TensorFlow Serving's REST API, and the batch sizes of its recipes.

A model's folder has a folder for each version, with a number as its name. The highest version is loaded.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

DEFAULT_SIGNATURE = "serving_default"
# SavedModels keep files of other programs in this folder.
_BATCH_SIZES = pathlib.PurePath("assets.extra", "batch_sizes.json")


class RequestError(ValueError):
    """The request is malformed or does not fit the model. The message contains the reason."""


@dataclasses.dataclass(frozen=True)
class _Input:
    """One input of a signature. `shape` includes the batch; None is any size."""

    dtype: tf.DType
    shape: tuple[int | None, ...]

    def tensor(self, name: str, rows: Sequence[Any]) -> tf.Tensor:
        """Converts rows of JSON values. Raises RequestError if they have another shape or type."""
        try:
            array = np.array(rows)
        except ValueError as error:
            raise RequestError(f"input {name}: the instances differ in shape: {error}") from error
        dtype = self.dtype.as_numpy_dtype
        if array.dtype.kind not in "biuf" or not np.can_cast(array.dtype, dtype, "same_kind"):
            raise RequestError(f"input {name}: values of type {array.dtype}, expected {self.dtype.name}")
        if self.dtype.is_integer and not (self.dtype.min <= array.min() and array.max() <= self.dtype.max):
            raise RequestError(f"input {name}: a value is not in the range of {self.dtype.name}")
        if not tf.TensorShape(self.shape).is_compatible_with(array.shape):
            raise RequestError(f"input {name}: an instance has shape {array.shape[1:]}, expected {self.shape[1:]}")
        return tf.constant(array.astype(dtype))

    def zeros(self, rows: int) -> tf.Tensor:
        return tf.zeros([rows, *self.shape[1:]], self.dtype)


class _Signature:
    """A signature whose inputs and outputs have the batch as their first dimension."""

    def __init__(self, function: Any) -> None:
        self._function = function
        specs = function.structured_input_signature[1]
        self._inputs = {name: _Input(spec.dtype, tuple(spec.shape)) for name, spec in specs.items()}

    def predict(self, instances: Sequence[Any]) -> list[Any]:
        """Returns one prediction per instance. With several outputs, a prediction is an object by output name."""
        tensors = {name: one.tensor(name, self._column(name, instances)) for name, one in self._inputs.items()}
        columns = {name: value.numpy().tolist() for name, value in self._function(**tensors).items()}
        if any(not isinstance(column, list) or len(column) != len(instances) for column in columns.values()):
            raise RequestError(f"the signature does not return a row for each of {len(instances)} instances")
        if len(columns) == 1:
            (column,) = columns.values()
            return column
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def warm_up(self, rows: int) -> None:
        """Runs the signature on zeros. Raises ValueError if a dimension besides the batch has no fixed size."""
        for name, one in self._inputs.items():
            if None in one.shape[1:]:
                raise ValueError(f"input {name} has shape {one.shape}: export a signature with one size per dimension")
        outputs = self._function(**{name: one.zeros(rows) for name, one in self._inputs.items()})
        for value in outputs.values():
            value.numpy()  # waits for the HPU

    def _column(self, name: str, instances: Sequence[Any]) -> list[Any]:
        """Returns the values of one input. With a single input, instances may be the values themselves."""
        if len(self._inputs) == 1 and not isinstance(instances[0], Mapping):
            return list(instances)
        for instance in instances:
            if not isinstance(instance, Mapping) or set(instance) != set(self._inputs):
                raise RequestError(f"each instance must be an object with the inputs {', '.join(self._inputs)}")
        return [instance[name] for instance in instances]


class ServedModel:
    """The highest version in a model's folder, loaded on the HPU. Threads may call predict() at the same time."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Loads the model. Raises OSError if the folder has no version, or no SavedModel in it."""
        versions = [path for path in folder.iterdir() if path.name.isdecimal() and path.is_dir()]
        if not versions:
            raise FileNotFoundError(f"{folder} has no version of a model: export one to {folder / '1'}")
        self._path = max(versions, key=lambda path: int(path.name))
        self.version = int(self._path.name)
        self._model = tf.saved_model.load(str(self._path))
        self._signatures = {name: _Signature(function) for name, function in self._model.signatures.items()}

    def predict(self, instances: object, signature: str = DEFAULT_SIGNATURE) -> list[Any]:
        """Returns one prediction per instance. Raises RequestError, or TensorFlow's error."""
        if signature not in self._signatures:
            raise RequestError(f"no signature {signature}; the model has {', '.join(self._signatures)}")
        if not isinstance(instances, list) or not instances:
            raise RequestError('"instances" must be a list of at least one instance')
        return self._signatures[signature].predict(instances)

    def warm_up(self, batch_sizes: Sequence[int]) -> None:
        """Runs each signature once with each batch size. Afterwards their recipes are loaded or compiled."""
        for signature in self._signatures.values():
            for size in batch_sizes:
                signature.warm_up(size)

    @property
    def batch_sizes(self) -> list[int]:
        """The batch sizes whose recipes were exported with the model; empty if the model lists none."""
        path = self._path / _BATCH_SIZES
        return list(map(int, json.loads(path.read_text()))) if path.exists() else []

    def list_batch_sizes(self, batch_sizes: Sequence[int]) -> None:
        """Writes the list of batch sizes into the model's folder."""
        path = self._path / _BATCH_SIZES
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(list(batch_sizes)) + "\n")
