"""Ops of random programs: each draws its operands from the tensors so far, and returns the text of an expression.

Shapes are symbolic: a dimension is a number, or a `Size` that changes from call to call.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Union

_MAX_ELEMENTS = 12_000
_MAX_RANK = 4
CLASSES = 6  # indices are below this number
FLOAT, INT, LONG, BOOL = "float32", "int32", "int64", "bool"


@dataclasses.dataclass(frozen=True)
class Size:
    """A dimension that changes. Sizes of equal text are equal in every call."""

    text: str
    most: int


Dimension = Union[int, Size]
Shape = tuple[Dimension, ...]


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor of the program, or an expression that has no name yet."""

    text: str
    dtype: str
    shape: Shape


class NoOperandError(Exception):
    """No tensor of the program fits the op."""


def most(dimension: Dimension) -> int:
    return dimension.most if isinstance(dimension, Size) else dimension


def _of(text: str, dimension: Dimension, largest: Callable[[int], int]) -> Dimension:
    """Returns the size that a formula makes of a dimension; `{}` is the dimension."""
    if isinstance(dimension, Size):
        return Size(text.format(f"({dimension.text})"), largest(dimension.most))
    return largest(dimension)


def _product(shape: Shape) -> Dimension:
    number, texts = 1, []
    for dimension in shape:
        number *= most(dimension)
        texts.append(f"({dimension.text})" if isinstance(dimension, Size) else str(dimension))
    return Size("*".join(sorted(texts)), number) if any(isinstance(d, Size) for d in shape) else number


class Draft:
    """A program in the making: its tensors, and draws of operands and numbers."""

    def __init__(self, draws: random.Random, tensors: Sequence[Tensor], variables: bool) -> None:
        self.draws, self.tensors, self.variables = draws, list(tensors), variables

    def tensor(self, fits: Callable[[Tensor], bool] = lambda _: True, dtype: str = FLOAT) -> Tensor:
        """Draws a tensor. Later tensors are likelier."""
        found = [tensor for tensor in self.tensors if tensor.dtype == dtype and fits(tensor)]
        if not found:
            raise NoOperandError
        return self.draws.choices(found, [1 + i for i in range(len(found))])[0]

    def of_rank(self, *ranks: int, dtype: str = FLOAT) -> Tensor:
        return self.tensor(lambda t: len(t.shape) in ranks, dtype)

    def like(self, other: Tensor, dtype: str = FLOAT) -> Tensor:
        """Draws a tensor of the same shape. Rarely of the same rank only, for sizes that may differ."""
        if self.draws.random() < 0.01:
            return self.of_rank(len(other.shape), dtype=dtype)
        return self.tensor(lambda t: t.shape == other.shape, dtype)

    def axis(self, tensor: Tensor) -> int:
        if not tensor.shape:
            raise NoOperandError
        return self.draws.randrange(len(tensor.shape))

    def one(self, *choices: str) -> str:
        return self.draws.choice(choices)


Op = Callable[[Draft], Tensor]
OPS: list[tuple[Op, float]] = []


def _op(weight: float = 1.0) -> Callable[[Op], Op]:
    def add(op: Op) -> Op:
        OPS.append((op, weight))
        return op

    return add


def make(draft: Draft) -> Tensor:
    """Draws an op that fits the tensors, and returns its expression."""
    while True:
        op = draft.draws.choices([op for op, _ in OPS], [weight for _, weight in OPS])[0]
        try:
            made = op(draft)
        except NoOperandError:
            continue
        if len(made.shape) <= _MAX_RANK and most(_product(made.shape)) <= _MAX_ELEMENTS:
            return made


def _with(shape: Shape, axis: int, *dimensions: Dimension) -> Shape:
    """Replaces the dimension of an axis."""
    return (*shape[:axis], *dimensions, *shape[axis + 1 :])


def _index(tensor: Tensor, axis: int, text: str) -> str:
    """Returns an index of an axis, with `:` for the axes before it."""
    return f"{tensor.text}[{', '.join([':'] * axis + [text])}]"


@_op(3)
def _unary(d: Draft) -> Tensor:
    x = d.tensor()
    text = d.one(
        "tf.tanh({})", "tf.sigmoid({})", "tf.nn.relu({})", "tf.abs({})", "-{}", "tf.sin({})", "tf.nn.softplus({})",
        "tf.exp(-tf.abs({}))", "tf.math.log1p(tf.abs({}))", "tf.sqrt(tf.abs({}) + 0.1)", "tf.nn.gelu({})",
        "tf.nn.leaky_relu({})", "tf.math.erf({})", "tf.clip_by_value({}, -1.0, 1.0)", "tf.math.rsqrt({} ** 2 + 1.0)",
        "1.0 / ({} ** 2 + 1.0)", "tf.nn.elu({})", "tf.identity({})", "tf.cast(tf.cast({}, tf.float64), tf.float32)",
        "tf.math.xlogy(tf.abs({0}), tf.abs({0}) + 0.1)", "tf.ones_like({}) * 0.5", "tf.zeros_like({})",
        "tf.stop_gradient({})", "tf.cast({} > 0.1, tf.float32)", "tf.math.multiply_no_nan({0}, tf.abs({0}))",
    )  # fmt: skip
    return Tensor(text.format(x.text), FLOAT, x.shape)


@_op(3)
def _binary(d: Draft) -> Tensor:
    x = d.tensor()
    y = d.like(x)
    text = d.one(
        "{} + {}", "{} - {}", "{} * {}", "tf.maximum({}, {})", "tf.minimum({}, {})", "{} / (tf.abs({}) + 1.0)",
        "tf.math.squared_difference({}, {})", "tf.where({0} > 0.1, {0}, {1})", "tf.where({0} > {1}, 0.5, {1})",
        "tf.math.atan2({}, tf.abs({}) + 0.5)", "tf.where({0} > 0.2, {1}, tf.zeros_like({0}))",
        "tf.add_n([{0}, {1}, {0}])", "tf.math.divide_no_nan({}, tf.nn.relu({}))",
    )  # fmt: skip
    return Tensor(text.format(x.text, y.text), FLOAT, x.shape)


@_op(2)
def _broadcast(d: Draft) -> Tensor:
    x, y = d.of_rank(1), d.of_rank(1)
    text = d.one("{}[:, None] - {}[None, :]", "{}[:, None] * {}", "tf.maximum({}[:, None], {})")
    return Tensor(text.format(x.text, y.text), FLOAT, (x.shape[0], y.shape[0]))


@_op(2)
def _broadcast_of_an_axis(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    axis = d.axis(x)
    function = d.one("sum", "mean", "max", "min", "logsumexp", "variance")
    operator = d.one("+", "-", "*")
    return Tensor(f"{x.text} {operator} tf.reduce_{function}({x.text}, {axis}, keepdims=True)".replace(
        "tf.reduce_variance", "tf.math.reduce_variance"), FLOAT, x.shape)  # fmt: skip


@_op()
def _broadcast_of_rows(d: Draft) -> Tensor:
    x = d.of_rank(2)
    y = d.tensor(lambda t: t.shape == x.shape[1:] or t.shape == x.shape[:1])
    other = y.text if y.shape == x.shape[1:] else f"{y.text}[:, None]"
    return Tensor(f"{x.text} {d.one('+', '-', '*')} {other}", FLOAT, x.shape)


@_op()
def _broadcast_to(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    return Tensor(f"tf.broadcast_to({x.text}, tf.concat([[2], tf.shape({x.text})], 0))", FLOAT, (2, *x.shape))


@_op()
def _broadcast_to_size(d: Draft) -> Tensor:
    x, y = d.of_rank(1), d.of_rank(1, 2, 3)
    text = f"tf.broadcast_to({x.text}, [tf.shape({y.text})[0], tf.shape({x.text})[0]])"
    return Tensor(text, FLOAT, (y.shape[0], x.shape[0]))


@_op(2)
def _weights(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) in (2, 3) and isinstance(t.shape[-1], int) and 0 < t.shape[-1] < 50)
    columns = d.draws.randint(1, 5)
    return Tensor(f"{x.text} @ weights({x.shape[-1]}, {columns})", FLOAT, (*x.shape[:-1], columns))


@_op(2)
def _products(d: Draft) -> Tensor:
    x = d.of_rank(2)
    y = d.of_rank(2)
    if x.shape[1] == y.shape[1]:
        return Tensor(f"tf.matmul({x.text}, {y.text}, transpose_b=True) * 0.3", FLOAT, (x.shape[0], y.shape[0]))
    if x.shape[0] == y.shape[0]:
        return Tensor(f"tf.matmul({x.text}, {y.text}, transpose_a=True) * 0.3", FLOAT, (x.shape[1], y.shape[1]))
    if x.shape[1] == y.shape[0]:
        return Tensor(f"tf.matmul({x.text}, {y.text}) * 0.3", FLOAT, (x.shape[0], y.shape[1]))
    raise NoOperandError


@_op()
def _gram(d: Draft) -> Tensor:
    x = d.of_rank(2)
    if d.draws.random() < 0.5:
        return Tensor(f"tf.matmul({x.text}, {x.text}, transpose_b=True) * 0.3", FLOAT, (x.shape[0], x.shape[0]))
    return Tensor(f"tf.einsum('ij,ik->jk', {x.text}, {x.text}) * 0.3", FLOAT, (x.shape[1], x.shape[1]))


@_op(2)
def _batched_products(d: Draft) -> Tensor:
    x = d.of_rank(3)
    y = d.tensor(lambda t: len(t.shape) == 3 and t.shape[0] == x.shape[0])
    if x.shape[2] == y.shape[1]:
        return Tensor(f"tf.matmul({x.text}, {y.text}) * 0.3", FLOAT, (*x.shape[:2], y.shape[2]))
    if x.shape[2] == y.shape[2]:
        text = d.one("tf.matmul({}, {}, transpose_b=True) * 0.3", "tf.einsum('bik,bjk->bij', {}, {}) * 0.3")
        return Tensor(text.format(x.text, y.text), FLOAT, (*x.shape[:2], y.shape[1]))
    if x.shape[1] == y.shape[1]:
        return Tensor(
            f"tf.einsum('bki,bkj->bij', {x.text}, {y.text}) * 0.3", FLOAT, (x.shape[0], x.shape[2], y.shape[2])
        )
    raise NoOperandError


@_op()
def _attention(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    return Tensor(f"tf.nn.softmax(tf.matmul({x.text}, {x.text}, transpose_b=True) * 0.3) @ {x.text}", FLOAT, x.shape)


@_op()
def _einsum(d: Draft) -> Tensor:
    x = d.of_rank(2)
    y = d.like(x)
    text, shape = d.draws.choice([("ij,ij->i", x.shape[:1]), ("ij,ij->j", x.shape[1:]), ("ij,ij->", ())])
    return Tensor(f"tf.einsum('{text}', {x.text}, {y.text})", FLOAT, shape)


@_op(2)
def _transpose(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    order = d.draws.sample(range(len(x.shape)), len(x.shape))
    return Tensor(f"tf.transpose({x.text}, {order})", d.draws.choice([FLOAT]), tuple(x.shape[i] for i in order))


@_op(2)
def _flatten(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    return Tensor(f"tf.reshape({x.text}, [-1])", FLOAT, (_product(x.shape),))


@_op(2)
def _rows_of_k(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    fixed = [dimension for dimension in x.shape if isinstance(dimension, int)]
    divisors = [k for k in (2, 3, 4, 6) if most(_product(tuple(fixed))) % k == 0]
    if not divisors:
        raise NoOperandError
    k = d.draws.choice(divisors)
    rows = _of(f"{{}}/{k}", _product(x.shape), lambda number: number // k)
    return Tensor(f"tf.reshape({x.text}, [-1, {k}])", FLOAT, (rows, k))


@_op(2)
def _columns(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    return Tensor(f"tf.reshape({x.text}, [tf.shape({x.text})[0], -1])", FLOAT, (x.shape[0], _product(x.shape[1:])))


@_op(2)
def _merged_rows(d: Draft) -> Tensor:
    x = d.of_rank(3)
    shape = (_product(x.shape[:2]), x.shape[2])
    return Tensor(f"tf.reshape({x.text}, [-1, tf.shape({x.text})[2]])", FLOAT, shape)


@_op(2)
def _squares(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) == 2 and t.shape[1] in (4, 6))
    shape = (x.shape[0], 2, 2) if x.shape[1] == 4 else (x.shape[0], 3, 2)
    return Tensor(f"tf.reshape({x.text}, [-1, {shape[1]}, {shape[2]}])", FLOAT, shape)


@_op(2)
def _concat(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    axis = d.axis(x)
    y = d.tensor(lambda t: len(t.shape) == len(x.shape) and _with(t.shape, axis, 0) == _with(x.shape, axis, 0))
    joined = [x.shape[axis], y.shape[axis]]
    total: Dimension = sum(most(one) for one in joined)
    if any(isinstance(one, Size) for one in joined):
        texts = sorted(f"({one.text})" if isinstance(one, Size) else str(one) for one in joined)
        total = Size("+".join(texts), most(total))
    return Tensor(f"tf.concat([{x.text}, {y.text}], {axis})", FLOAT, _with(x.shape, axis, total))


@_op()
def _concat_of_a_row(d: Draft) -> Tensor:
    x = d.of_rank(2)
    text = d.one(
        "tf.concat([{0}, tf.ones([1, tf.shape({0})[1]])], 0)", "tf.concat([tf.zeros_like({0}[:1]), {0}[1:]], 0)"
    )
    size = _of("{}+1", x.shape[0], lambda n: n + 1) if "ones" in text else _of("max(1,{})", x.shape[0], lambda n: n)
    if "zeros" in text:
        size = x.shape[0]
    return Tensor(text.format(x.text), FLOAT, (size, x.shape[1]))


@_op()
def _stack(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    y = d.like(x)
    axis = d.draws.randint(0, len(x.shape))
    return Tensor(f"tf.stack([{x.text}, {y.text}], {axis})", FLOAT, (*x.shape[:axis], 2, *x.shape[axis:]))


@_op()
def _unstack(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) in (2, 3) and isinstance(t.shape[-1], int) and 1 < t.shape[-1] < 20)
    return Tensor(f"tf.unstack({x.text}, axis=-1)[{d.draws.randrange(2)}]", FLOAT, x.shape[:-1])


@_op()
def _split(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) in (2, 3) and isinstance(t.shape[-1], int) and t.shape[-1] in (2, 4, 6, 8))
    part = d.draws.randrange(2)
    return Tensor(f"tf.split({x.text}, 2, -1)[{part}]", FLOAT, (*x.shape[:-1], most(x.shape[-1]) // 2))


@_op()
def _split_rest(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    rest = _of("{}-2", x.shape[0], lambda n: max(0, n - 2))
    return Tensor(f"tf.split({x.text}, [2, -1])[1]", FLOAT, (rest, *x.shape[1:]))


@_op()
def _tile(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    axis = d.axis(x)
    times = d.draws.randint(2, 3)
    multiples = [times if i == axis else 1 for i in range(len(x.shape))]
    size = _of(f"{times}*{{}}", x.shape[axis], lambda n: n * times)
    return Tensor(f"tf.tile({x.text}, {multiples})", FLOAT, _with(x.shape, axis, size))


@_op()
def _tile_by_size(d: Draft) -> Tensor:
    x, y = d.of_rank(1), d.of_rank(1, 2)
    text = d.one("tf.tile({0}[None], [tf.shape({1})[0], 1])", "tf.repeat({0}[None], tf.shape({1})[0], axis=0)")
    return Tensor(text.format(x.text, y.text), FLOAT, (y.shape[0], x.shape[0]))


@_op()
def _repeat(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    axis = d.axis(x)
    size = _of("2*{}", x.shape[axis], lambda n: n * 2)
    return Tensor(f"tf.repeat({x.text}, 2, axis={axis})", FLOAT, _with(x.shape, axis, size))


@_op(2)
def _pad(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    axis = d.axis(x)
    before, after = d.draws.randint(0, 2), d.draws.randint(0, 2)
    paddings = [[before, after] if i == axis else [0, 0] for i in range(len(x.shape))]
    size = _of(f"{{}}+{before + after}", x.shape[axis], lambda n: n + before + after)
    mode = d.draws.choices(["", ", constant_values=0.5", ", mode='REFLECT'", ", mode='SYMMETRIC'"], [6, 3, 1, 1])[0]
    return Tensor(f"tf.pad({x.text}, {paddings}{mode})", FLOAT, _with(x.shape, axis, size))


@_op(2)
def _gather(d: Draft) -> Tensor:
    x, ids = d.of_rank(1, 2, 3), d.of_rank(1, 1, 2, dtype=d.one(INT, LONG))
    axis = d.axis(x)
    size = f"tf.cast(tf.maximum(tf.shape({x.text})[{axis}], 1), {ids.text}.dtype)"
    text = f"tf.gather({x.text}, tf.math.floormod({ids.text}, {size}), axis={axis})"
    return Tensor(text, FLOAT, _with(x.shape, axis, *ids.shape))


@_op()
def _gather_in_batches(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) == 2 and isinstance(t.shape[1], int) and t.shape[1] > 0)
    ids = d.tensor(lambda t: len(t.shape) == 1 and t.shape[0] == x.shape[0], d.one(INT, LONG))
    return Tensor(f"tf.gather({x.text}, tf.math.floormod({ids.text}, {x.shape[1]}), batch_dims=1)", FLOAT, ids.shape)


@_op()
def _gather_nd(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) == 2 and isinstance(t.shape[1], int) and t.shape[1] > 0)
    ids = d.tensor(lambda t: len(t.shape) == 1 and t.shape[0] == x.shape[0], INT)
    rows = f"tf.range(tf.shape({x.text})[0])"
    text = f"tf.gather_nd({x.text}, tf.stack([{rows}, tf.math.floormod({ids.text}, {x.shape[1]})], 1))"
    return Tensor(text, FLOAT, ids.shape)


@_op(2)
def _mask(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    mask = d.tensor(lambda t: t.shape == x.shape[:1], BOOL)
    flags = mask.text + "[:, None]" * (len(x.shape) - 1)
    other = d.one(f"tf.zeros_like({x.text})", "-1.0", f"{x.text} * 2.0", f"tf.fill(tf.shape({x.text}), -1e9)")
    return Tensor(f"tf.where({flags}, {x.text}, {other})", FLOAT, x.shape)


@_op(0.3)
def _boolean_mask(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    mask = d.tensor(lambda t: t.shape == x.shape[:1], BOOL)
    size = Size(f"true({mask.text})", most(x.shape[0]))
    return Tensor(f"tf.boolean_mask({x.text}, {mask.text})", FLOAT, (size, *x.shape[1:]))


@_op(0.3)
def _coordinates(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    size = Size(f"positive({x.text})", most(_product(x.shape)))
    return Tensor(f"tf.where({x.text} > 0.1)", LONG, (size, len(x.shape)))


@_op(2)
def _cumulative(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    function = d.one("tf.cumsum", "tf.cumsum", "tf.math.cumulative_logsumexp", "0.1 * tf.math.cumprod")
    options = d.one("", ", exclusive=True", ", reverse=True", ", reverse=True, exclusive=True")
    if "logsumexp" in function and "exclusive" in options:
        options = ""
    return Tensor(f"{function}({x.text}, axis={d.axis(x)}{options})", FLOAT, x.shape)


@_op(3)
def _reduce(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    function = d.one(
        "tf.reduce_sum", "tf.reduce_mean", "tf.reduce_max", "tf.reduce_min", "tf.reduce_logsumexp", "tf.reduce_prod",
        "tf.math.reduce_variance", "tf.math.reduce_std", "tf.math.reduce_euclidean_norm", "tf.norm",
    )  # fmt: skip
    axis = d.axis(x)
    if d.draws.random() < 0.3:
        return Tensor(f"{function}({x.text}, axis={axis}, keepdims=True)", FLOAT, _with(x.shape, axis, 1))
    return Tensor(f"{function}({x.text}, axis={axis})", FLOAT, _with(x.shape, axis))


@_op()
def _reduce_all(d: Draft) -> Tensor:
    x = d.tensor()
    return Tensor(f"{d.one('tf.reduce_sum', 'tf.reduce_mean', 'tf.reduce_max', 'tf.nn.l2_loss')}({x.text})", FLOAT, ())


@_op(2)
def _softmax(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    return Tensor(f"{d.one('tf.nn.softmax', 'tf.nn.log_softmax')}({x.text}, axis={d.axis(x)})", FLOAT, x.shape)


@_op()
def _normalised(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    axis = d.axis(x)
    text = d.one("layer_norm({0}, {1})", "tf.nn.l2_normalize({0}, {1})", "tf.math.l2_normalize({0}, {1}, epsilon=0.1)")
    return Tensor(text.format(x.text, axis), FLOAT, x.shape)


@_op()
def _moments(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    axis = d.axis(x)
    return Tensor(f"tf.nn.moments({x.text}, [{axis}])[{d.draws.randrange(2)}]", FLOAT, _with(x.shape, axis))


@_op()
def _argmax(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    axis, dtype = d.axis(x), d.one(INT, LONG)
    text = f"tf.{d.one('argmax', 'argmin')}({x.text}, axis={axis}, output_type=tf.{dtype})"
    return Tensor(text, dtype, _with(x.shape, axis))


@_op()
def _top_k(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    padded = f"tf.pad({x.text}, {[[0, 0]] * (len(x.shape) - 1) + [[0, 3]]})"
    values = d.draws.random() < 0.5
    text = f"tf.math.top_k({padded}, 3).{'values' if values else 'indices'}"
    return Tensor(text, FLOAT if values else INT, (*x.shape[:-1], 3))


@_op()
def _sort(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    axis, direction = d.axis(x), d.one("ASCENDING", "DESCENDING")
    if d.draws.random() < 0.5:
        return Tensor(f"tf.sort({x.text}, axis={axis}, direction='{direction}')", FLOAT, x.shape)
    return Tensor(f"tf.argsort({x.text}, axis={axis}, direction='{direction}', stable=True)", INT, x.shape)


@_op()
def _one_hot(d: Draft) -> Tensor:
    ids, depth = d.of_rank(1, 2, dtype=d.one(INT, LONG)), d.draws.randint(2, CLASSES)
    return Tensor(f"tf.one_hot({ids.text}, {depth})", FLOAT, (*ids.shape, depth))


@_op()
def _one_hot_of_size(d: Draft) -> Tensor:
    ids, x = d.of_rank(1, dtype=INT), d.of_rank(1, 2)
    return Tensor(f"tf.one_hot({ids.text}, tf.shape({x.text})[0])", FLOAT, (*ids.shape, x.shape[0]))


@_op()
def _range(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    axis = d.axis(x)
    size = f"tf.shape({x.text})[{axis}]"
    kind = d.draws.randrange(3)
    if kind == 0:
        return Tensor(f"tf.range({size})", INT, (x.shape[axis],))
    if kind == 1:
        return Tensor(f"tf.cast(tf.range({size}), tf.float32) * 0.1", FLOAT, (x.shape[axis],))
    return Tensor(f"tf.range(0, {size}, 2)", INT, (_of("ceil({}/2)", x.shape[axis], lambda n: -(-n // 2)),))


@_op()
def _linspace(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    return Tensor(f"tf.linspace(0.0, 1.0, tf.shape({x.text})[0] + 1)[1:]", FLOAT, (x.shape[0],))


@_op()
def _sequence_mask(d: Draft) -> Tensor:
    lengths, x = d.of_rank(1, dtype=INT), d.of_rank(1, 2, 3)
    axis = d.axis(x)
    dtype = d.one(BOOL, FLOAT)
    text = f"tf.sequence_mask({lengths.text}, tf.shape({x.text})[{axis}], dtype=tf.{dtype})"
    return Tensor(text, dtype, (*lengths.shape, x.shape[axis]))


@_op()
def _masked_scores(d: Draft) -> Tensor:
    x = d.of_rank(2)
    lengths = d.tensor(lambda t: t.shape == x.shape[:1], INT)
    mask = f"tf.sequence_mask({lengths.text}, tf.shape({x.text})[1])"
    return Tensor(f"tf.nn.softmax(tf.where({mask}, {x.text}, -1e9))", FLOAT, x.shape)


@_op()
def _segments(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    ids = d.tensor(lambda t: t.shape == x.shape[:1], d.one(INT, LONG))
    function = d.one("sum", "sum", "mean", "max", "min", "prod")
    if d.draws.random() < 0.2:
        size = f"tf.shape({x.text})[0]"
        text = f"tf.math.unsorted_segment_sum({x.text}, {ids.text} % {CLASSES}, {size} + {CLASSES})[:{size}]"
        return Tensor(text, FLOAT, x.shape)
    text = f"tf.math.unsorted_segment_{function}({x.text}, {ids.text} % {CLASSES}, {CLASSES})"
    return Tensor(f"tf.clip_by_value({text}, -9.0, 9.0)" if function != "sum" else text, FLOAT, (CLASSES, *x.shape[1:]))


@_op(0.3)
def _sorted_segments(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    ids = d.tensor(lambda t: t.shape == x.shape[:1], INT)
    size = Size(f"segments({ids.text})", most(x.shape[0]))
    return Tensor(f"tf.math.segment_sum({x.text}, tf.sort({ids.text}))", FLOAT, (size, *x.shape[1:]))


@_op(4)
def _slice(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3, dtype=d.one(FLOAT, FLOAT, FLOAT, INT))
    axis = d.axis(x)
    slices: list[tuple[str, Callable[[int], int]]] = [
        ("1:", lambda n: max(0, n - 1)),
        (":-1", lambda n: max(0, n - 1)),
        (":k", lambda n: n),
        ("k:", lambda n: n),
        ("::2", lambda n: -(-n // 2)),
        ("::-1", lambda n: n),
        ("1::3", lambda n: -(-max(0, n - 1) // 3)),
        ("-3:", lambda n: min(n, 3)),
        (":3", lambda n: min(n, 3)),
        ("1:5", lambda n: min(max(0, n - 1), 4)),
        ("-2::-2", lambda n: n // 2),
    ]
    text, largest = d.draws.choice(slices)
    size = x.shape[axis]
    if "k" in text:
        size = Size(f"({size.text if isinstance(size, Size) else size})[{text}]", largest(most(size)))
    elif text != "::-1":
        size = _of(f"{{}}[{text}]", size, largest)
    return Tensor(_index(x, axis, text), x.dtype, _with(x.shape, axis, size))


@_op()
def _element(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3, dtype=d.one(FLOAT, FLOAT, INT))
    axis = d.axis(x)
    return Tensor(_index(x, axis, d.one("0", "-1", "-1", "1")), x.dtype, _with(x.shape, axis))


@_op()
def _differences(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    size = _of("{}[1:]", x.shape[0], lambda n: max(0, n - 1))
    return Tensor(f"{x.text}[1:] - {x.text}[:-1]", FLOAT, (size, *x.shape[1:]))


@_op()
def _slice_by_size(d: Draft) -> Tensor:
    x = d.of_rank(2)
    size = _of("{}/2", x.shape[0], lambda n: n // 2)
    half = f"tf.shape({x.text})[0] // 2"
    text = d.one("{0}[:{1}]", "tf.slice({0}, [0, 0], [{1}, -1])", "tf.slice({0}, [{1}, 0], [{1}, -1])")
    return Tensor(text.format(x.text, half), FLOAT, (size, x.shape[1]))


@_op()
def _expand(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    axis = d.draws.randint(0, len(x.shape))
    return Tensor(f"tf.expand_dims({x.text}, {axis})", FLOAT, (*x.shape[:axis], 1, *x.shape[axis:]))


@_op()
def _squeeze(d: Draft) -> Tensor:
    x = d.tensor(lambda t: 1 in t.shape)
    axis = x.shape.index(1)
    return Tensor(f"tf.squeeze({x.text}, {axis})", FLOAT, _with(x.shape, axis))


@_op(0.3)
def _reverse(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    return Tensor(f"tf.reverse({x.text}, [{d.axis(x)}])", FLOAT, x.shape)


@_op(0.5)
def _reverse_sequence(d: Draft) -> Tensor:
    x = d.of_rank(2, 3)
    lengths = d.tensor(lambda t: t.shape == x.shape[:1], INT)
    text = f"tf.reverse_sequence({x.text}, tf.minimum({lengths.text}, tf.shape({x.text})[1]), seq_axis=1)"
    return Tensor(text, FLOAT, x.shape)


@_op()
def _roll(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    return Tensor(f"tf.roll({x.text}, {d.one('1', '-2', '5', 'k')}, {d.axis(x)})", FLOAT, x.shape)


@_op()
def _convolution(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) == 3 and isinstance(t.shape[2], int) and 0 < t.shape[2] < 9)
    channels, stride, padding = d.draws.randint(1, 4), d.draws.randint(1, 2), d.one("SAME", "SAME", "VALID")
    width = d.draws.randint(1, 3)
    # Not without rows: for an empty result the CPU's kernel returns a wrong shape (differences.yaml).
    rows = f"tf.pad({x.text}, [[0, 1], [0, 0], [0, 0]])"
    text = f"tf.nn.conv1d({rows}, weights({width}, {x.shape[2]}, {channels}), {stride}, '{padding}')"
    size = _of("{}+1", x.shape[0], lambda n: n + 1)
    return Tensor(text, FLOAT, (size, _windows(x.shape[1], width, stride, padding), channels))


def _windows(size: Dimension, width: int, stride: int, padding: str) -> Dimension:
    if padding == "SAME":
        return size if stride == 1 else _of(f"ceil({{}}/{stride})", size, lambda n: -(-n // stride))
    if width == stride == 1:
        return size
    return _of(f"windows({{}},{width},{stride})", size, lambda n: max(0, (n - width) // stride + 1))


@_op()
def _pooling(d: Draft) -> Tensor:
    x = d.of_rank(3)
    width, stride, padding = d.draws.randint(2, 3), d.draws.randint(1, 2), d.one("SAME", "SAME", "VALID")
    text = f"tf.nn.{d.one('max', 'avg')}_pool1d({x.text}, {width}, {stride}, '{padding}')"
    return Tensor(text, FLOAT, (x.shape[0], _windows(x.shape[1], width, stride, padding), x.shape[2]))


@_op()
def _as_sequence(d: Draft) -> Tensor:
    x = d.of_rank(2)
    return Tensor(f"{x.text}[None]", FLOAT, (1, *x.shape)) if d.draws.random() < 0.5 else Tensor(
        f"{x.text}[:, :, None]", FLOAT, (*x.shape, 1))  # fmt: skip


@_op()
def _embedding(d: Draft) -> Tensor:
    ids = d.of_rank(1, 2, dtype=d.one(INT, LONG))
    table = "table" if d.variables else f"weights({CLASSES}, 4)"
    return Tensor(f"tf.nn.embedding_lookup({table}, {ids.text} % {CLASSES})", FLOAT, (*ids.shape, 4))


@_op(2)
def _layer(d: Draft) -> Tensor:
    if not d.variables:
        raise NoOperandError
    x = d.tensor(lambda t: len(t.shape) in (2, 3) and t.shape[-1] == 4)
    text = d.one("{} @ kernel", "tf.nn.relu({} @ kernel + bias)", "tf.nn.bias_add({} @ kernel, bias)")
    return Tensor(text.format(x.text), FLOAT, (*x.shape[:-1], 3))


@_op()
def _filled(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    text, shape = d.draws.choice(
        [
            ("tf.zeros(tf.shape({}))", x.shape),
            ("tf.ones([tf.shape({})[0], 3])", (x.shape[0], 3)),
            ("tf.fill([tf.shape({})[0]], 0.25)", x.shape[:1]),
            ("tf.eye(tf.shape({})[0])", (x.shape[0], x.shape[0])),
        ]
    )
    return Tensor(text.format(x.text), FLOAT, shape)


@_op()
def _random(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    text = d.one(
        "tf.random.stateless_uniform(tf.shape({}), [1, 2])",
        "tf.random.stateless_normal(tf.shape({}), [3, 4])",
        "tf.nn.experimental.stateless_dropout({}, 0.4, [5, 6])",
    )
    return Tensor(text.format(x.text), FLOAT, x.shape)


@_op(2)
def _loss(d: Draft) -> Tensor:
    x = d.of_rank(2)
    if isinstance(x.shape[1], int) and x.shape[1] > 0 and d.draws.random() < 0.5:
        ids = d.tensor(lambda t: t.shape == x.shape[:1], d.one(INT, LONG))
        text = f"tf.nn.sparse_softmax_cross_entropy_with_logits({ids.text} % {x.shape[1]}, {x.text})"
        return Tensor(text, FLOAT, x.shape[:1])
    y = d.like(x)
    text, shape = d.draws.choice(
        [
            ("tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax({}), {})", x.shape[:1]),
            ("tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid({}), {})", x.shape),
            ("tf.keras.losses.mean_squared_error({}, {})", x.shape[:1]),
            ("tf.keras.losses.huber({}, {})", x.shape[:1]),
            ("tf.keras.losses.cosine_similarity({}, {})", x.shape[:1]),
            ("tf.keras.losses.MeanAbsoluteError()({}, {})", ()),
        ]
    )
    return Tensor(text.format(x.text, y.text), FLOAT, shape)


@_op(2)
def _integers(d: Draft) -> Tensor:
    x = d.tensor(dtype=d.one(INT, LONG))
    text = d.one("{} + 1", "{} * 2", "tf.abs({})", "{} % 3", "tf.maximum({}, 2)", "{} // 2", "tf.cumsum({0}[None])[0]")
    return Tensor(text.format(x.text), x.dtype, x.shape)


@_op()
def _reduced_integers(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, dtype=d.one(INT, LONG))
    axis = d.axis(x)
    return Tensor(f"tf.reduce_{d.one('sum', 'max', 'min', 'mean')}({x.text}, {axis})", x.dtype, _with(x.shape, axis))


@_op()
def _cast(d: Draft) -> Tensor:
    x = d.tensor(dtype=d.one(INT, LONG, BOOL))
    to = d.one(FLOAT, FLOAT, INT, LONG)
    scale = " * 0.1" if to == FLOAT else ""
    return Tensor(f"tf.cast({x.text}, tf.{to}){scale}", to, x.shape)


@_op()
def _compared(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    return Tensor(f"{x.text} {d.one('> 0.15', '< 0.25')}", BOOL, x.shape)


@_op()
def _flags(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, dtype=BOOL)
    axis = d.axis(x)
    if d.draws.random() < 0.4:
        return Tensor(f"~{x.text}", BOOL, x.shape)
    if d.draws.random() < 0.5:
        return Tensor(f"tf.reduce_{d.one('any', 'all')}({x.text}, {axis})", BOOL, _with(x.shape, axis))
    return Tensor(f"tf.math.count_nonzero({x.text}, {axis})", LONG, _with(x.shape, axis))


@_op()
def _sizes(d: Draft) -> Tensor:
    x = d.of_rank(1, 2, 3)
    text, shape = d.draws.choice([("tf.shape({})", (len(x.shape),)), ("tf.size({})", ())])
    return Tensor(text.format(x.text), INT, shape)


@_op()
def _matrix(d: Draft) -> Tensor:
    x = d.of_rank(2)
    band = d.one("-1, 0", "0, -1", "0, 0")
    return Tensor(f"tf.linalg.band_part({x.text}, {band})", FLOAT, x.shape)


@_op(0.7)
def _diagonal(d: Draft) -> Tensor:
    x = d.of_rank(1)
    return Tensor(f"tf.linalg.diag({x.text})", FLOAT, (x.shape[0], x.shape[0]))


@_op(0.7)
def _diagonal_part(d: Draft) -> Tensor:
    x = d.tensor(lambda t: len(t.shape) == 2 and t.shape[0] == t.shape[1])
    return Tensor(f"{d.one('tf.linalg.diag_part', 'tf.linalg.tensor_diag_part')}({x.text})", FLOAT, x.shape[:1])


@_op()
def _counts(d: Draft) -> Tensor:
    ids = d.of_rank(1, dtype=d.one(INT, INT, LONG))
    text = d.one("tf.math.bincount(tf.cast({0}, tf.int32) % {1}, minlength={1}, maxlength={1})")
    return Tensor(text.format(ids.text, CLASSES), INT, (CLASSES,))


@_op()
def _searched(d: Draft) -> Tensor:
    x, y = d.of_rank(1), d.of_rank(1)
    return Tensor(f"tf.searchsorted(tf.sort({x.text}), {y.text} + 0.01)", INT, y.shape)


@_op()
def _scattered(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    ids = d.tensor(lambda t: t.shape == x.shape[:1], d.one(INT, LONG))
    rest = "" if len(x.shape) == 1 else f", tf.shape({x.text}, {ids.text}.dtype)[1]"
    index = f"({ids.text} % {CLASSES})[:, None]"
    return Tensor(f"tf.scatter_nd({index}, {x.text}, [{CLASSES}{rest}])", FLOAT, (CLASSES, *x.shape[1:]))


@_op()
def _scattered_to_size(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    ids = d.tensor(lambda t: t.shape == x.shape[:1], INT)
    index = f"tf.minimum({ids.text} % {CLASSES}, tf.shape({x.text})[0] - 1)[:, None]"
    function = d.one("tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min")
    return Tensor(f"tf.{function}(tf.zeros_like({x.text}), {index}, {x.text})", FLOAT, x.shape)


@_op(0.7)
def _branch(d: Draft) -> Tensor:
    x, y = d.of_rank(1, 2), d.of_rank(1, 2)
    condition = f"tf.shape({y.text})[0] > 6"
    return Tensor(f"tf.cond({condition}, lambda: {x.text} * 2.0, lambda: tf.tanh({x.text}))", FLOAT, x.shape)


@_op(0.7)
def _loop(d: Draft) -> Tensor:
    x = d.of_rank(1, 2)
    body = d.one("tf.tanh(a)", "a * 0.5 + tf.reduce_max(a, 0)", "tf.roll(a, 1, 0)", "a - tf.reduce_mean(a, 0)")
    times = d.one("3", f"tf.shape({x.text})[0]")
    text = f"tf.while_loop(lambda i, a: i < {times}, lambda i, a: (i + 1, {body}), (0, {x.text}))[1]"
    return Tensor(text, FLOAT, x.shape)


@_op(0.5)
def _map(d: Draft) -> Tensor:
    x = d.of_rank(2)
    text = d.one("tf.map_fn(lambda r: r * tf.reduce_sum(r), {})", "tf.scan(lambda a, r: a * 0.5 + r, {})")
    return Tensor(text.format(x.text), FLOAT, x.shape)


@_op(0.7)
def _meshgrid(d: Draft) -> Tensor:
    x, y = d.of_rank(1), d.of_rank(1)
    return Tensor(f"tf.meshgrid({x.text}, {y.text})[{d.draws.randrange(2)}]", FLOAT, (y.shape[0], x.shape[0]))
