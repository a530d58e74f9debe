"""Roles of op arguments, derived from name and dtype, and suitable values."""

from __future__ import annotations

import re

import numpy as np
import tensorflow as tf

from tests.ops.sweep.records import Array
from tests.ops.sweep.values import Style, draw_array, draw_dimension, draw_shape

_AXIS = re.compile(r"axis|axes|^dim$|dimension$|reduction_indices|_dim$")
_SHAPE = re.compile(r"shape|_sizes?$|^sizes?$|^dims$|multiples|^s[01]$|^lengths?$")
_INDEX = re.compile(r"ind(ices|ex)|_ids?$|^ids$|labels|targets|selector|^x_values")
_OFFSET = re.compile(r"begin|^start|^end|offset|strides|shift|slice")
_PADDING = re.compile(r"padding|crops")
_SCALAR = re.compile(
    r"^(lr|rho|delta|scale|factor|momentum|epsilon|alpha|beta\d?|beta\d_power|l[12]\w*|max_delta|contrast_factor|decay|"
    r"global_step|limit|value|iou_threshold|score_threshold|logbase|sign_decay|tolerance|clip_value_m\w+|pred|on_value|"
    r"off_value|min|max|input_min|input_max|min_\w+|max_\w+|stddev|padding_value|constant_values)$"
)
_COUNT = re.compile(r"^k$|depth|^num|^n$|^size$|count|bins|limit|^stop$|diag")


class Drawer:
    """Generator of the arguments of one call, whose shapes are related."""

    def __init__(self, rng: np.random.Generator, style: Style) -> None:
        self.rng = rng
        self.style = style
        self.base = draw_shape(rng)
        self.layout = str(rng.choice(["same", "broadcast", "free", "ranks"], p=[0.45, 0.2, 0.15, 0.2]))

    def argument(self, name: str, dtype: tf.DType, on_host: bool) -> Array:
        """Draws an argument. `on_host`: kernels read the value on the host, as for sizes and axes."""
        whole = dtype in (tf.int32, tf.int64, tf.int16)
        if whole and (on_host or _hints(name)):
            return self._role(name, dtype)
        if _SCALAR.search(name) and self.rng.random() < 0.9:
            return draw_array(self.rng, dtype, (), Style.UNIT if self.rng.random() < 0.7 else self.style)
        return draw_array(self.rng, dtype, self.shape(), self.style)

    def shape(self) -> tuple[int, ...]:
        """Draws the shape of a data argument."""
        if self.layout == "same":
            return self.base
        if self.layout == "broadcast":
            dropped = int(self.rng.integers(0, len(self.base) + 1)) if self.rng.random() < 0.4 else 0
            return tuple(1 if self.rng.random() < 0.3 else size for size in self.base[dropped:])
        if self.layout == "ranks":
            kept = int(self.rng.integers(0, len(self.base) + 1))
            return self.base[:kept] if self.rng.random() < 0.5 else self.base[len(self.base) - kept :]
        return draw_shape(self.rng)

    def _role(self, name: str, dtype: tf.DType) -> Array:
        rank = len(self.base)
        rng = self.rng
        if "perm" in name:
            values = rng.permutation(rank)
        elif _AXIS.search(name):
            values = rng.permutation(np.arange(rank))[: int(rng.integers(0, rank + 1))]
            values = np.where(rng.random(values.shape) < 0.3, values - rank, values)
            if rng.random() < 0.6:
                values = np.asarray(values[0] if values.size else 0)
        elif _PADDING.search(name):
            values = rng.integers(0, 3, (rank, 2))
        elif _SHAPE.search(name) and not (name == "size" and rng.random() < 0.5):
            values = np.array(self.base if rng.random() < 0.5 else draw_shape(rng), np.int64)
            if "multiples" in name:
                values = rng.integers(0, 4, rank)
        elif _INDEX.search(name):
            limit = max(1, self.base[0] if self.base else 1)
            values = rng.integers(0, limit, draw_shape(rng, int(rng.integers(0, 3))))
        elif _COUNT.search(name):
            values = np.asarray(draw_dimension(rng))
        elif _OFFSET.search(name):
            sizes = np.array(self.base, np.int64)
            values = np.array([rng.integers(0, size + 1) for size in sizes], np.int64)
        else:
            values = rng.integers(-1, 5, draw_shape(rng, int(rng.integers(0, 2))))
        return np.asarray(values).astype(dtype.as_numpy_dtype)


def _hints(name: str) -> bool:
    return any(role.search(name) for role in (_AXIS, _SHAPE, _INDEX, _OFFSET, _PADDING, _COUNT)) or "perm" in name
