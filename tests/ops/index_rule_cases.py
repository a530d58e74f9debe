"""Cases of the index rules: ops with indices that their CPU kernels accept or refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
Array = np.ndarray[Any, Any]
Arguments = tuple[Array, ...]
# The first arguments are variables, which the program may update. The result is one tensor.
Program = Callable[..., tf.Tensor]

ROWS, WIDTH = 5, 4
TABLE = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
# More rows than int16 has numbers.
MANY_ROWS = np.arange(40_000, dtype=np.float32).reshape(40_000, 1)
WIDE = ("int32", "int64")
# Place of the number in indices of scatters: CPU kernels update the rows before an invalid index, and ours update none.
FIRST = 0
ALL = ("int16", *WIDE)

# How a step runs a program (test_index_rules.py).
EAGER, CONSTANT, GIVEN, COMPUTED, LOOP, BRANCH = "eager", "constant", "given", "computed", "loop", "branch"
WAYS = (EAGER, CONSTANT, GIVEN, COMPUTED, LOOP, BRANCH)
INNER = (LOOP, BRANCH)


class Case(NamedTuple):
    """A program, and tuples of arguments of the same shapes and dtypes. The first tuple is valid if any is."""

    program: Program
    arguments: Sequence[Arguments]
    table: Array = TABLE
    variables: int = 1  # number of variables with the values of `table`, which the program receives first
    ways: tuple[str, ...] = WAYS
    one_launch: tuple[str, ...] = WAYS  # ways on which a step is one cluster
    own_text: bool = True  # the error has the CPU kernel's text
    graph_differs: bool = False  # the CPU has another error if the program runs eagerly
    refused: bool = False  # XLA cannot compile the program, so the CPU kernel raises the error
    slow: bool = False


Cases = Iterator[tuple[str, Case]]


def array(values: Any, dtype: str) -> Array:
    return np.array(values, tf.as_dtype(dtype).as_numpy_dtype)


def empty(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def bounds(size: int, dtype: str, first: int = 0) -> list[int]:
    """Returns numbers at and around the ends of [first, size), far outside, and the smallest and largest of the dtype.

    2**32 and 2**32 + 1 would be valid if only their last 32 bits were read. The first number is valid if any is.
    """
    limits = np.iinfo(dtype)
    numbers = [size - 1, first, first - 1, size, -1000, int(limits.min), int(limits.max), 2**32, 2**32 + 1]
    return [number for number in dict.fromkeys(numbers) if limits.min <= number <= limits.max]


def indices(dtype: str, shape: Sequence[int], numbers: Sequence[int], place: int = -1) -> list[Arguments]:
    """Returns arrays whose last (or first, for place=0) element is one of the numbers. Other elements are 0 and 1."""
    found: list[Arguments] = []
    for number in numbers if 0 not in shape else ():
        values = (np.arange(np.prod(shape, dtype=int)) % 2).astype(dtype).reshape(shape)
        values[(place,) * len(shape)] = number
        found.append((values,))
    return found or [(np.zeros(shape, dtype),)]


def vectors(dtype: str, shape: Sequence[int], sizes: Sequence[int], place: int = -1) -> list[Arguments]:
    """Returns arrays of vectors with a component for each of the sizes. One component is one of its bounds()."""
    found: list[Arguments] = []
    for component, size in enumerate(sizes if 0 not in shape else ()):
        for number in bounds(size, dtype):
            values = np.zeros((*shape, len(sizes)), dtype)
            position = (*[place] * len(shape), component)
            values[position] = number
            found.append((values,))
    return found or [(np.zeros((*shape, len(sizes)), dtype),)]


def gather(axis: int = 0, batch_dims: int = 0) -> Program:
    return lambda table, ids: tf.gather(table * 1.5, ids, axis=axis, batch_dims=batch_dims)


def old_gather(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return raw.Gather(params=table * 1.5, indices=ids)


def gather_by_axis(table: tf.Variable, ids: tf.Tensor, axis: tf.Tensor) -> tf.Tensor:
    return tf.reshape(raw.GatherV2(params=table * 1.5, indices=ids, axis=axis), [-1])


def slices() -> Cases:
    for dtype in ALL:
        for axis, rank in ((0, 0), (0, 1), (1, 1), (-1, 2), (-2, 1), (0, 2), (1, 0), (1, 2), (-1, 0), (-1, 1), (-2, 2)):
            ids = indices(dtype, (2,) * rank, bounds(TABLE.shape[axis], dtype))
            usual = (axis, rank) in ((0, 0), (1, 1), (-1, 2), (-2, 1))
            yield f"gather-{dtype}-axis{axis}-rank{rank}", Case(gather(axis), ids, slow=not usual)
        yield f"gather-{dtype}-batch", Case(gather(1, 1), indices(dtype, (ROWS, 2), bounds(WIDTH, dtype)))
        yield f"gather-{dtype}-batch-of-end", Case(gather(-1, -1), indices(dtype, (ROWS, 2), bounds(WIDTH, dtype)))
        yield f"gather-{dtype}-none", Case(gather(), indices(dtype, (2, 0), []))
        yield f"gather-{dtype}-empty-slices", Case(gather(), indices(dtype, (2,), bounds(3, dtype)), empty(3, 0))
        yield (
            f"gather-{dtype}-empty-table",
            Case(gather(), indices(dtype, (1,), bounds(0, dtype)[:4]), empty(0, 3), refused=True),
        )
        rows = min(40_000, np.iinfo(dtype).max + 1)
        yield (
            f"gather-{dtype}-many-rows",
            Case(gather(), indices(dtype, (2,), bounds(rows, dtype)), MANY_ROWS, refused=dtype == "int16"),
        )
        yield (
            f"gather-{dtype}-given-axis",
            Case(
                gather_by_axis,
                [
                    (ids, array(n, "int32"))
                    for n in (0, -2, 1, -1, 2, -3, 2**31 - 1)
                    for ids in array([[1, 4], [3, -1]], dtype)
                ],
                refused=True,
            ),
        )
    for dtype in WIDE:
        yield f"old-gather-{dtype}", Case(old_gather, indices(dtype, (3,), bounds(ROWS, dtype)), slow=dtype == "int32")


# Indices that are vectors.


def gather_nd(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return tf.gather_nd(table * 1.5, ids)


def gather_nd_batch(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return tf.gather_nd(table * 1.5, ids, batch_dims=1)


def updates_of(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    """Returns ones in the shape of the updates at these vectors of indices."""
    return tf.ones([*ids.shape[:-1], *table.shape[ids.shape[-1] :]])


def scatter_nd(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    sizes = tf.constant(table.shape.as_list(), ids.dtype)
    return tf.scatter_nd(ids, updates_of(table, ids) * 2.0, sizes)


def tensor_scatter(name: str) -> Program:
    operation = getattr(tf, f"tensor_scatter_nd_{name}")
    return lambda table, ids: operation(table * 1.5, ids, updates_of(table, ids))


def vector_indices() -> Cases:
    for dtype in ALL:
        for shape, components in (((), 1), ((2,), 2), ((2, 1), 1), ((), 2)):
            ids = vectors(dtype, shape, TABLE.shape[:components])
            yield (
                f"gather-nd-{dtype}-rank{len(shape) + 1}-of-{components}",
                Case(gather_nd, ids, own_text=len(shape) == 1, slow=(len(shape), components) in ((0, 2), (2, 1))),
            )
        yield f"gather-nd-{dtype}-none", Case(gather_nd, vectors(dtype, (0,), (ROWS, WIDTH)))
        yield f"gather-nd-{dtype}-empty-slices", Case(gather_nd, vectors(dtype, (2,), (3,)), empty(3, 0), refused=True)
        yield (
            f"gather-nd-{dtype}-batch",
            Case(
                gather_nd_batch,
                vectors(dtype, (ROWS, 2), (WIDTH,)),
                own_text=False,
                one_launch=(COMPUTED, LOOP, BRANCH),
                slow=True,
            ),
        )
        many = indices(dtype, (2, 1), bounds(min(40_000, np.iinfo(dtype).max + 1), dtype))
        yield f"gather-nd-{dtype}-many-rows", Case(gather_nd, many, MANY_ROWS, refused=dtype == "int16")
    for dtype in WIDE:  # CPU kernels have no other dtypes
        yield f"tensor-scatter-{dtype}", Case(tensor_scatter("update"), vectors(dtype, (2,), (ROWS,)))
        yield f"scatter-nd-{dtype}", Case(scatter_nd, vectors(dtype, (2,), (ROWS, WIDTH)))
        yield f"scatter-nd-{dtype}-none", Case(scatter_nd, vectors(dtype, (0,), (ROWS, WIDTH)), slow=True)
    for name in ("add", "sub", "min", "max"):
        yield f"tensor-scatter-{name}", Case(tensor_scatter(name), vectors("int64", (1,), (ROWS, WIDTH)), slow=True)


# Indices into variables.


def lookup(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return table.sparse_read(ids)


def lookup_nd(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return table.gather_nd(ids)


def lookup_batch(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return raw.ResourceGather(resource=table.handle, indices=ids, dtype=tf.float32, batch_dims=1)


def scatter(name: str) -> Program:
    def program(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
        updates = tf.ones([*ids.shape, *table.shape[1:]]) * 2.0
        getattr(raw, f"ResourceScatter{name}")(resource=table.handle, indices=ids, updates=updates)
        return table.read_value()

    return program


def scatter_variable_nd(name: str) -> Program:
    def program(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
        updates = updates_of(table, ids)
        getattr(raw, f"ResourceScatterNd{name}")(ref=table.handle, indices=ids, updates=updates)
        return table.read_value()

    return program


def descend(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    raw.ResourceSparseApplyProximalGradientDescent(
        var=table.handle, alpha=0.5, l1=0.0, l2=0.0, grad=tf.ones([*ids.shape, *table.shape[1:]]), indices=ids
    )
    return table.read_value()


def variable_indices() -> Cases:
    for dtype in WIDE:
        for rank in range(3):
            ids = indices(dtype, (2,) * rank, bounds(ROWS, dtype))
            yield f"lookup-{dtype}-rank{rank}", Case(lookup, ids, slow=rank == 1)
        yield f"lookup-{dtype}-batch", Case(lookup_batch, indices(dtype, (ROWS, 2), bounds(WIDTH, dtype)))
        yield f"lookup-{dtype}-none", Case(lookup, indices(dtype, (0,), []), slow=True)
        yield f"lookup-{dtype}-empty-slices", Case(lookup, indices(dtype, (2,), bounds(3, dtype)), empty(3, 0))
        yield (
            f"lookup-{dtype}-empty-table",
            Case(lookup, indices(dtype, (1,), bounds(0, dtype)[:4]), empty(0, 3), refused=True),
        )
        yield f"lookup-nd-{dtype}", Case(lookup_nd, vectors(dtype, (2,), (ROWS, WIDTH)))
        for name in ("Add", "Update", "Sub", "Mul", "Min", "Max", "Div"):
            ids = indices(dtype, (2,), bounds(ROWS, dtype), FIRST)
            launches = () if name == "Div" else WAYS  # the CPU kernel of Div may also fail for values
            slow = name not in ("Add", "Update")
            yield f"scatter-{name.lower()}-{dtype}", Case(scatter(name), ids, one_launch=launches, slow=slow)
        yield f"scatter-add-{dtype}-scalar", Case(scatter("Add"), indices(dtype, (), bounds(ROWS, dtype)), slow=True)
        yield f"scatter-add-{dtype}-row-before", Case(scatter("Add"), indices(dtype, (2,), bounds(ROWS, dtype)))
        yield f"scatter-add-{dtype}-none", Case(scatter("Add"), indices(dtype, (0,), []), slow=True)
        for name in ("Update", "Add", "Sub"):
            ids = vectors(dtype, (2,), (ROWS,), FIRST)
            yield (
                f"scatter-variable-nd-{name.lower()}-{dtype}",
                Case(scatter_variable_nd(name), ids, one_launch=(EAGER, GIVEN, COMPUTED), slow=name != "Add"),
            )
        yield f"descend-{dtype}", Case(descend, indices(dtype, (2,), bounds(ROWS, dtype), FIRST), own_text=False)


# Labels, segments, lengths, permutations, boxes.


def labels(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(ids, table * 0.1)


def segments(name: str, number_type: str = "int32", number: int = 3) -> Program:
    operation = getattr(tf.math, f"unsorted_segment_{name}")
    return lambda table, ids: operation(table * 1.5, ids, tf.constant(number, number_type))


def reverse(seq_axis: int = 1, batch_axis: int = 0) -> Program:
    return lambda table, lengths: tf.reverse_sequence(table * 1.5, lengths, seq_axis=seq_axis, batch_axis=batch_axis)


def invert(_: tf.Variable, numbers: tf.Tensor) -> tf.Tensor:
    return tf.math.invert_permutation(numbers)


def boxes_of(ids: tf.Tensor) -> Array:
    return np.tile(np.array([[0, 0, 1, 0.5]], np.float32), (ids.shape[0], 1))


def crop(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    return tf.image.crop_and_resize(tf.reshape(table * 1.5, [ROWS, 2, 2, 1]), boxes_of(ids), ids, [2, 1])


def crop_grad_boxes(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    images, grads = tf.reshape(table * 1.5, [ROWS, 2, 2, 1]), tf.ones([ids.shape[0], 2, 2, 1])
    return raw.CropAndResizeGradBoxes(grads=grads, image=images, boxes=boxes_of(ids), box_ind=ids)


def crop_grad_image(table: tf.Variable, ids: tf.Tensor) -> tf.Tensor:
    grads, sizes = tf.ones([ids.shape[0], 2, 2, 1]) * table[0, 1], [ROWS, 2, 2, 1]
    return raw.CropAndResizeGradImage(grads=grads, boxes=boxes_of(ids), box_ind=ids, image_size=sizes, T=tf.float32)


def other_kinds() -> Cases:
    for dtype in WIDE:
        yield f"labels-{dtype}", Case(labels, indices(dtype, (ROWS,), bounds(WIDTH, dtype)))
        yield f"labels-{dtype}-none", Case(labels, indices(dtype, (0,), []), empty(0, 3), slow=True)
        for name in ("sum", "prod", "max", "min"):
            ids = indices(dtype, (ROWS,), bounds(3, dtype))
            yield f"segments-{name}-{dtype}", Case(segments(name), ids, slow=name != "sum")
        ids = indices(dtype, (ROWS, WIDTH), bounds(3, dtype))
        yield f"segments-{dtype}-matrix", Case(segments("max", "int64"), ids)
        yield f"segments-{dtype}-empty-rows", Case(segments("sum"), indices(dtype, (3,), bounds(3, dtype)), empty(3, 0))
        for name in ("sum", "prod", "max", "min"):
            ids = indices(dtype, (ROWS,), [-1, 0, 1])
            yield f"segments-{dtype}-no-segments-{name}", Case(segments(name, number=0), ids, slow=name != "sum")
        yield f"segments-{dtype}-none", Case(segments("sum"), indices(dtype, (0,), []), empty(0, 3))
        for axis in (0, 1):
            ids = indices(dtype, (TABLE.shape[1 - axis],), bounds(TABLE.shape[axis] + 1, dtype))
            yield f"lengths-{dtype}-axis{axis}", Case(reverse(axis, 1 - axis), ids)
        yield f"lengths-{dtype}-none", Case(reverse(), indices(dtype, (0,), []), empty(0, 3), slow=True)
        yield f"lengths-{dtype}-empty", Case(reverse(), indices(dtype, (3,), [0, 1, -1]), empty(3, 0))
        yield f"permutation-{dtype}", Case(invert, indices(dtype, (3,), [2, 1, *bounds(3, dtype)[2:]]))
        yield f"permutation-{dtype}-none", Case(invert, indices(dtype, (0,), []), slow=True)
    for name, program in (("crop", crop), ("crop-grad-boxes", crop_grad_boxes), ("crop-grad-image", crop_grad_image)):
        yield name, Case(program, indices("int32", (2,), bounds(ROWS, "int32")))
        yield f"{name}-none", Case(program, indices("int32", (0,), []), slow=True)


# Elements, elements of lists, and slices, which need checks inside loops and branches.


def element(table: tf.Variable, i: tf.Tensor) -> tf.Tensor:
    return (table * 1.5)[i]


def inner_element(table: tf.Variable, i: tf.Tensor) -> tf.Tensor:
    return (table * 1.5)[tf.newaxis][0, ..., i]


def read_list(table: tf.Variable, i: tf.Tensor) -> tf.Tensor:
    return tf.TensorArray(tf.float32, ROWS).unstack(table * 1.5).read(i)


def write_list(table: tf.Variable, i: tf.Tensor) -> tf.Tensor:
    return tf.TensorArray(tf.float32, ROWS, element_shape=[WIDTH]).write(i, table[1] * 1.5).stack()


def begin(sizes: Sequence[int]) -> Program:
    return lambda table, first: tf.slice(table * 1.5, first, sizes)


LARGEST = 2**63 - 1


def inner(program: Program, arguments: Sequence[Arguments], table: Array = TABLE, **fields: Any) -> Case:
    return Case(program, arguments, table, ways=INNER, one_launch=INNER, **fields)


def inner_kinds() -> Cases:
    for dtype in ALL:
        outside = dtype == "int16"  # no pass computes the index in the cluster of a loop
        elements = indices(dtype, (), bounds(ROWS, dtype, -ROWS))
        yield f"element-{dtype}", inner(element, elements, own_text=outside, refused=outside)
        elements = indices(dtype, (), bounds(WIDTH, dtype, -WIDTH))
        yield f"inner-element-{dtype}", inner(inner_element, elements, own_text=outside, refused=outside)
    elements = indices("int32", (), bounds(ROWS, "int32"))
    yield "read-list", inner(read_list, elements, graph_differs=True)
    yield "write-list", inner(write_list, elements, graph_differs=True)
    for dtype in WIDE:
        rows = [(array([n, 0], dtype),) for n in bounds(ROWS - 1, dtype) if n != LARGEST]
        columns = [(array([0, n], dtype),) for n in bounds(WIDTH - 1, dtype) if n != LARGEST]
        yield f"begin-{dtype}", inner(begin([2, 2]), rows + columns)
        rows = [(array([n, 0], dtype),) for n in (ROWS, 0, ROWS + 1, -1)]
        yield f"begin-{dtype}-empty-slice", inner(begin([0, WIDTH]), rows)
        rows = [(array([n, 0], dtype),) for n in (0, 1, -1)]
        yield f"begin-{dtype}-empty", inner(begin([0, 2]), rows, empty(0, 2))
    yield "begin-largest", inner(begin([2, 2]), [(array([n, 0], "int64"),) for n in (0, LARGEST)])


INDEX_CASES: dict[str, Case] = {
    name: case
    for cases in (slices, vector_indices, variable_indices, other_kinds, inner_kinds)
    for name, case in cases()
}
