"""Finds out undocumented behaviour of SynapseAI's kernels by running small graphs on a card.

    python -m tests.gaudi.card_questions /usr/lib/habanalabs/libSynapse.so

Exit code 0: the lowerings of plugin/backends/gaudi/lowerings/ work with all answers. 1: an answer requires other code.
2: the library cannot be used.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import json
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.gaudi import synapse_graph
from tests.gaudi.kernel_library import BF16, suffix
from tests.gaudi.synapse_library import RELEASES, SUCCESS, Double

# The tolerance of the opcode tests for float32.
MAX_ERROR = 1e-5
_TRUNCATE = struct.pack("i", 4)  # ns_CastKernel::Params
_ELEMENTS = 10_000

Spec = tuple[Sequence[int], Any]


class Card:
    """An acquired device that runs graphs of one node."""

    def __init__(self, library: Double, generation: str) -> None:
        self._library = library
        self._generation = generation
        library.ok("synInitialize")
        self._machine = synapse_graph.Machine(library, library.acquire())

    def run(self, guid: str, inputs: Sequence[Any], results: Sequence[Spec], params: bytes = b"") -> list[np.ndarray]:
        """Returns the results of a node. Raises AssertionError, with the failed call, if the library refuses it."""
        return self.run_times(1, guid, inputs, results, params)[0]

    def run_times(
        self, times: int, guid: str, inputs: Sequence[Any], results: Sequence[Spec], params: bytes = b""
    ) -> list[list[np.ndarray]]:
        """Returns the results of several launches of one recipe."""
        graph = synapse_graph.Graph(self._library, self._generation)
        arrays = {f"x{i}": np.asarray(x) for i, x in enumerate(inputs)}
        specs = {f"y{i}": spec for i, spec in enumerate(results)}
        operands = [graph.persistent(name, x.shape[::-1], x.dtype) for name, x in arrays.items()]
        outputs = [graph.persistent(name, shape[::-1], dtype) for name, (shape, dtype) in specs.items()]
        graph.node(guid, operands, outputs, params)
        recipe = graph.compile()
        return [list(self._machine.run(recipe, arrays, specs).values()) for _ in range(times)]

    def elementwise(self, stem: str, *inputs: np.ndarray) -> np.ndarray:
        """Returns the result of a kernel whose operands have one shape and type."""
        (result,) = self.run(f"{stem}_{suffix(inputs[0].dtype)}", inputs, [(inputs[0].shape, inputs[0].dtype)])
        return result


@dataclasses.dataclass(frozen=True)
class Reply:
    """A card's answer to a question."""

    text: str
    # A figure that the lowering does not depend on.
    figure: float | None = None


@dataclasses.dataclass(frozen=True)
class Question:
    """A question about kernels."""

    name: str
    text: str
    ask: Callable[[Card], Reply]
    # Texts of replies with which the lowering works; empty: all.
    expected: tuple[str, ...]
    # The code to change if the reply is a different one.
    code: str


@dataclasses.dataclass(frozen=True)
class Answer:
    question: str
    text: str
    answer: str
    figure: float | None
    fits: bool
    code: str


def _floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def _nan_in(stem: str) -> Callable[[Card], Reply]:
    def ask(card: Card) -> Reply:
        kept = np.isnan(card.elementwise(stem, _floats(np.nan, 1), _floats(1, np.nan)))
        texts = {(True, True): "keeps NaN", (False, False): "loses NaN"}
        return Reply(texts.get((bool(kept[0]), bool(kept[1])), "depends on the order of the operands"))

    return ask


def _pool(card: Card, row: np.ndarray) -> tuple[int, float]:
    """Returns index and maximum of a window that covers a row."""
    size = len(row)
    params = struct.pack("10iI", *(0, 0, 0, 0), *(size, 1), *(1, 1), *(1, 1), 0)
    x = row.reshape(1, 1, size, 1)
    index, y = card.run("maxpool_2d_fwd_f32", [x], [((1, 1, 1, 1), np.uint8), ((1, 1, 1, 1), np.float32)], params)
    return int(index.item()), float(y.item())


def _max_pool_ties(card: Card) -> Reply:
    index, _ = _pool(card, _floats(0, 5, 5, 5))
    return Reply({1: "the first", 2: "the second", 3: "the last"}.get(index, f"element {index}, which is smaller"))


def _max_pool_nan(card: Card) -> Reply:
    index, maximum = _pool(card, _floats(1, np.nan, 3))
    return Reply(f"{maximum}, element {index}")


def _float_to_integer(card: Card) -> Reply:
    x = _floats(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)
    (y,) = card.run("cast_f32_to_i32", [x], [(x.shape, np.int32)], _TRUNCATE)
    return Reply("truncates" if y.tolist() == [-2, -1, 0, 0, 1, 2] else f"{x.tolist()} become {y.tolist()}")


def _float_out_of_range(card: Card) -> Reply:
    x = _floats(2**32, -(2**32), np.inf, np.nan)
    (y,) = card.run("cast_f32_to_i32", [x], [(x.shape, np.int32)], _TRUNCATE)
    return Reply(f"{x.tolist()} become {y.tolist()}")


def _float_to_bfloat16(card: Card) -> Reply:
    # Halfway between two bfloat16 numbers.
    x = _floats(1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8)
    (y,) = card.run("cast_f32_to_bf16", [x], [(x.shape, BF16)])
    return Reply("to the nearest even" if (y == x.astype(BF16)).all() else f"{x.tolist()} become {y.tolist()}")


def _denormals(stem: str, other: float) -> Callable[[Card], Reply]:
    def ask(card: Card) -> Reply:
        y = card.elementwise(stem, _floats(1e-39), _floats(other))
        return Reply("yes" if y[0] else "they count as 0")

    return ask


def _denormals_in_gemm(card: Card) -> Reply:
    tiny, one = np.full((2, 2), 1e-39, np.float32), np.eye(2, dtype=np.float32)
    (y,) = card.run("gemm", [tiny, one], [((2, 2), np.float32)], synapse_graph.gemm())
    return Reply("yes" if y.all() else "they count as 0")


def _integers_wrap(card: Card) -> Reply:
    x = np.array([2**30, -(2**31), 3], np.int32)
    y = np.array([4, -1, 7], np.int32)
    product = card.elementwise("mult_fwd", x, y)
    total = card.elementwise("add_fwd", x, x)
    wrap = (product.tolist(), total.tolist()) == ([0, -(2**31), 21], [-(2**31), 0, 6])
    return Reply("yes" if wrap else f"products {product.tolist()}, sums {total.tolist()}")


def _error(got: np.ndarray, want: np.ndarray) -> Reply:
    error = float(np.abs(got - want).max() / np.abs(want).max())
    return Reply("yes" if error <= MAX_ERROR else "no", error)


def _function_error(stem: str, low: float, high: float, exact: Callable[[np.ndarray], Any]) -> Callable[[Card], Reply]:
    def ask(card: Card) -> Reply:
        x = np.linspace(low, high, _ELEMENTS, dtype=np.float32)
        return _error(card.elementwise(stem, x), exact(x.astype(np.float64)))

    return ask


def _product_error(card: Card) -> Reply:
    random = np.random.default_rng(0)
    a, b = (random.uniform(-1, 1, (256, 256)).astype(np.float32) for _ in range(2))
    (c,) = card.run("gemm", [a, b], [((256, 256), np.float32)], synapse_graph.gemm())
    return _error(c, a.astype(np.float64) @ b.astype(np.float64))


def _repeated_sums(card: Card) -> Reply:
    x = np.random.default_rng(0).uniform(-1, 1, (4, _ELEMENTS)).astype(np.float32)
    params = struct.pack("I", 0)  # ns_Reduction::Params
    first, *others = card.run_times(5, "reduce_sum_fwd_f32", [x], [((4, 1), np.float32)], params)
    return Reply("yes" if all((other[0] == first[0]).all() for other in others) else "no")


def _index_out_of_range(card: Card) -> Reply:
    x = _floats(1, 2, 3)
    try:
        (y,) = card.run("gather_fwd_f32", [x, np.array([7], np.int32)], [((1,), np.float32)], struct.pack("I", 0))
    except AssertionError as error:
        return Reply(f"the launch fails: {str(error).partition(':')[0]}")
    return Reply({1.0: "the first element", 3.0: "the last element"}.get(y.item(), f"{y.item()}"))


_FUNCTIONS: dict[str, tuple[float, float, Callable[[np.ndarray], Any]]] = {
    "exp": (-10, 10, np.exp),
    "log": (1e-3, 100, np.log),
    "sqrt": (0, 100, np.sqrt),
    "rsqrt": (1e-2, 100, lambda x: 1 / np.sqrt(x)),
    "tanh": (-10, 10, np.tanh),
    "sigmoid": (-20, 20, lambda x: 1 / (1 + np.exp(-x))),
    "sin": (-100, 100, np.sin),
}

# The last question may end the card's stream.
QUESTIONS = (
    Question("nan-in-maximum", "Does max_fwd keep NaN?", _nan_in("max_fwd"), (), "windows.cc, HaveNan"),
    Question("nan-in-minimum", "Does min_fwd keep NaN?", _nan_in("min_fwd"), (), "windows.cc, HaveNan"),
    Question(
        "max-pool-ties",
        "Which of equal elements do the indices of maxpool_2d_fwd name?",
        _max_pool_ties,
        ("the first",),
        "pooling_nodes.cc, MaxPoolGradientNodes",
    ),
    Question(
        "max-pool-nan",
        "What does maxpool_2d_fwd return for 1, NaN, 3?",
        _max_pool_nan,
        (),
        "pooling_nodes.cc, WithoutNan",
    ),
    Question(
        "float-to-integer",
        "How does cast_f32_to_i32 round in mode 4?",
        _float_to_integer,
        ("truncates",),
        "conversions.cc, Truncate",
    ),
    Question(
        "float-out-of-range",
        "What does cast_f32_to_i32 return for numbers out of range?",
        _float_out_of_range,
        (),
        "conversions.cc, FloatToInteger",
    ),
    Question(
        "float-to-bfloat16",
        "How does cast_f32_to_bf16 round ties?",
        _float_to_bfloat16,
        ("to the nearest even",),
        "conversions.cc, LowerConvert",
    ),
    Question("denormal-products", "Are denormal operands of mult_fwd kept?", _denormals("mult_fwd", 1), (), "none"),
    Question("denormal-sums", "Are denormal operands of add_fwd kept?", _denormals("add_fwd", 0), (), "none"),
    Question("denormal-gemm", "Are denormal operands of gemm kept?", _denormals_in_gemm, (), "none"),
    Question(
        "integer-overflow",
        "Do mult_fwd_i32 and add_fwd_i32 wrap around?",
        _integers_wrap,
        ("yes",),
        "plan/integer_arithmetic.cc",
    ),
    *(
        Question(
            f"{name}-error",
            f"Is the error of {name}_fwd_f32 small from {low:g} to {high:g}, relative to the largest result?",
            _function_error(f"{name}_fwd", low, high, exact),
            ("yes",),
            "elementwise.cc",
        )
        for name, (low, high, exact) in _FUNCTIONS.items()
    ),
    Question(
        "product-error",
        "Is the error of gemm small for float32, relative to the largest result?",
        _product_error,
        ("yes",),
        "products.cc",
    ),
    Question(
        "repeated-sums",
        "Does reduce_sum_fwd_f32 return the same bits in each launch?",
        _repeated_sums,
        ("yes",),
        "reductions.cc",
    ),
    Question(
        "index-out-of-range",
        "What does gather_fwd_f32 return for index 7 of 3 elements?",
        _index_out_of_range,
        (),
        "indexing.cc, ClampIndex",
    ),
)


def answer(question: Question, card: Card) -> Answer:
    """Runs the question's graphs. If the library refuses a call, the answer does not fit."""
    try:
        reply = question.ask(card)
        fits = not question.expected or reply.text in question.expected
    except AssertionError as error:
        reply, fits = Reply(f"refused: {error}"), False
    return Answer(question.name, question.text, reply.text, reply.figure, fits, question.code)


def release_of(file: str) -> str:
    """Returns the release of a library: the first two numbers of its version. Raises OSError or ValueError."""
    text = ctypes.create_string_buffer(256)
    library = ctypes.CDLL(file)
    if not hasattr(library, "synDriverGetVersion"):
        raise ValueError(f"{file} is not SynapseAI's library: it lacks synDriverGetVersion")
    if library.synDriverGetVersion(text, len(text)) != SUCCESS:
        raise ValueError(f"{file}: synDriverGetVersion failed; reinstall SynapseAI")
    version = text.value.decode()
    release = ".".join(version.split(".")[:2])
    if release not in RELEASES:
        raise ValueError(f"{file} has release {version}; supported: {', '.join(RELEASES)}")
    return release


def ask_all(file: str, generation: str | None) -> list[Answer]:
    """Acquires a card and asks all questions. Raises OSError, ValueError, or AssertionError if no card is free."""
    release = release_of(file)
    library = Double(release, lambda: "", file)
    try:
        card = Card(library, generation or synapse_graph.DEFAULT_GENERATION[release])
        return [answer(question, card) for question in QUESTIONS]
    finally:
        library.close()


def write_answers(answers: Sequence[Answer]) -> None:
    for each in answers:
        figure = "" if each.figure is None else f" ({each.figure:.2g})"
        mark = "ok    " if each.fits else "change"
        sys.stdout.write(f"{mark} {each.question}: {each.text} {each.answer}{figure}\n")
        if not each.fits:
            sys.stdout.write(f"       code: {each.code}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libSynapse.so: a path, or a name that the dynamic loader finds")
    parser.add_argument("--generation", choices=("gaudi", "gaudi2", "gaudi3"), help="of the card")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    try:
        answers = ask_all(arguments.library, arguments.generation)
    except (OSError, ValueError, AssertionError) as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    if arguments.json:
        sys.stdout.write(json.dumps({"answers": [dataclasses.asdict(each) for each in answers]}, indent=2) + "\n")
    else:
        write_answers(answers)
    return 0 if all(each.fits for each in answers) else 1


if __name__ == "__main__":
    sys.exit(main())
