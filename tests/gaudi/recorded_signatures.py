"""Nodes recorded in graphs of the product: types, sizes (FCD first) and params. Some sizes are made up."""

from __future__ import annotations

import dataclasses
import re
import struct
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.gaudi.kernel_library import BF16
from tests.gaudi.synapse_graph import convolution, convolution_3d, gemm, strided

_TYPES: dict[str, Any] = {
    "f32": np.float32,
    "bf16": BF16,
    "i32": np.int32,
    "i8": np.int8,
    "u8": np.uint8,
    "shape": None,
}


@dataclasses.dataclass(frozen=True)
class Signature:
    """A node; operands and results are texts such as bf16{132,4096}, shape{2,2} for shape tensors."""

    guid: str
    operands: Sequence[str]
    results: Sequence[str]
    params: Sequence[bytes] = (b"",)
    """One for each recorded version."""
    result_is_free: bool = False
    """The operands and params do not determine the sizes of the result."""
    sizes_are_made_up: bool = False
    """Types and params are recorded; the excerpt of the recording lacks the sizes."""


def parse(text: str) -> tuple[Any, list[int]]:
    """Returns type and sizes of "bf16{132,4096}"; None as the type of shape tensors."""
    match = re.fullmatch(r"(\w+)\{([\d,]+)\}", text)
    assert match, text
    return _TYPES[match[1]], [int(size) for size in match[2].split(",")]


def _convolutions(
    kernel: Sequence[int], stride: Sequence[int] = (1, 1), sizes: Sequence[int] = (72, 88, 104, 112)
) -> Any:
    return [convolution(kernel, stride, size=size) for size in sizes]


_ROUND = [struct.pack("I", 0), b""]
_CHANNELS = ["f32{256}"] * 4
_POOL_3 = struct.pack("11i", 0, 0, 0, 0, 3, 3, 2, 2, 1, 1, 0)
_POOL_7 = struct.pack("12i", 0, 0, 0, 0, 7, 7, 1, 1, 1, 1, 0, 0)
_BATCH_NORM = [struct.pack("3f", 0, 0.9, 1e-3), struct.pack("3f?3x", 0, 0.9, 1e-3, True)]
_LAYER_NORM = [struct.pack("?3xf", True, 1e-12)]
_HIDDEN = "bf16{768,128,32}"

SIGNATURES = [
    Signature("gemm", ["bf16{132,4096}", "bf16{1024,132}"], ["bf16{1024,4096}"], [gemm()]),
    Signature("batch_gemm", ["f32{250012,128,2,4}", "f32{1024,250012}"], ["f32{1024,128,2,4}"], [gemm()]),
    Signature(
        "spatial_convolution",
        ["bf16{64,56,56,64}", "bf16{256,64,1,1}"],
        ["bf16{256,56,56,64}"],
        _convolutions((1, 1), sizes=(72, 104, 112)),
    ),
    Signature("dedw", ["bf16{64,56,56,256}", "bf16{256,56,56,256}"], ["bf16{64,256,1,1}"], _convolutions((1, 1))),
    Signature(
        "dedw",
        ["bf16{64,56,56,256}", "bf16{256,56,56,256}"],
        ["f32{64,256,1,1}"],
        _convolutions((1, 1)),
        sizes_are_made_up=True,
    ),
    Signature("dedx", ["bf16{64,56,56,256}", "bf16{64,256,1,1}"], ["bf16{256,56,56,256}"], _convolutions((1, 1))),
    Signature(
        "dedx",
        ["bf16{64,56,56,256}", "bf16{64,256,1,1}", "shape{256,56,56,256}"],
        ["bf16{256,56,56,256}"],
        _convolutions((1, 1)),
    ),
    Signature(
        "dedx3d",
        ["bf16{64,8,8,8,2}", "bf16{64,32,1,1,1}", "shape{32,8,8,8,2}"],
        ["bf16{32,8,8,8,2}"],
        [convolution_3d((1, 1, 1), size=size) for size in (96, 128)],
        sizes_are_made_up=True,
    ),
    Signature(
        "batch_norm_fwd_f32",
        ["f32{256,56,56,64}", *_CHANNELS],
        ["f32{256,56,56,64}", *_CHANNELS[:2]],
        _BATCH_NORM,
        sizes_are_made_up=True,
    ),
    Signature(
        "batch_norm_fwd_bf16",
        ["bf16{256,56,56,64}", *_CHANNELS],
        ["bf16{256,56,56,64}", *_CHANNELS],
        _BATCH_NORM,
        sizes_are_made_up=True,
    ),
    Signature(
        "batch_norm_bwd_bf16",
        ["bf16{256,56,56,64}", "bf16{256,56,56,64}", *_CHANNELS[:3]],
        ["bf16{256,56,56,64}", *_CHANNELS[:2]],
        [b"", *_BATCH_NORM],
        sizes_are_made_up=True,
    ),
    Signature(
        "layer_norm_fwd_bf16",
        ["bf16{1024,1,1,9216}", "f32{1024}", "f32{1024}"],
        ["bf16{1024,1,1,9216}", "f32{1,1,1,9216}", "f32{1,1,1,9216}"],
        _LAYER_NORM,
    ),
    Signature(
        "norm_moments_fwd_f32", ["f32{64,256,256,32}"], ["f32{64,1,1,1}", "f32{64,1,1,1}"], [struct.pack("I", 14)]
    ),
    Signature("softmax_fwd_bf16", ["bf16{512,512,16,28}"], ["bf16{512,512,16,28}"], [bytes(4)]),
    Signature("softmax_bwd_bf16", ["bf16{512,512,16,28}"] * 2, ["bf16{512,512,16,28}"], [bytes(4)]),
    Signature(
        "softmax_cross_entropy_bwd_bf16",
        ["bf16{1000,64}", "i32{64}"],
        ["bf16{1000,64}"],
        [struct.pack("Ii", 1, 64)],
    ),
    Signature("dropout_fwd_bf16", [_HIDDEN, "i32{1}"], [_HIDDEN, "i8{768,128,32}"], [struct.pack("fI", 0.1, 0)]),
    Signature("dropout_bwd_bf16", [_HIDDEN, "i8{768,128,32}"], [_HIDDEN], [struct.pack("fI", 0.1, 0)]),
    Signature("gelu_fwd_bf16", [_HIDDEN], [_HIDDEN, _HIDDEN], [b"\0"], sizes_are_made_up=True),
    Signature("gelu_bwd_bf16", [_HIDDEN] * 3, [_HIDDEN], sizes_are_made_up=True),
    Signature("gather_fwd_f32", ["f32{768,30522}", "i32{4096}"], ["f32{768,4096}"], [struct.pack("2i", 1, 0)]),
    # Recorded from PyTorch, which passed layouts with the channels outside the image.
    Signature("maxpool_2d_bwd_f32", ["f32{50,3,3,64}", "u8{50,3,3,64}"], ["f32{50,7,7,64}"], [_POOL_3], True),
    Signature("avg_pool_2d_bwd_f32", ["f32{2048,1,1,128}", "f32{2048,7,7,128}"], ["f32{2048,7,7,128}"], [_POOL_7]),
    Signature("reduce_sum_fwd_f32", ["f32{7,7,50,64}"], ["f32{7,7,50,1}"], [struct.pack("I", 3)]),
    Signature("cast_f32_to_bf16", ["f32{1024,9216}"], ["bf16{1024,9216}"], _ROUND, sizes_are_made_up=True),
    Signature("cast_bf16_to_f32", ["bf16{1024,9216}"], ["f32{1024,9216}"], _ROUND, sizes_are_made_up=True),
    Signature("cast_i32_to_f32", ["i32{64}"], ["f32{64}"], _ROUND, sizes_are_made_up=True),
    Signature("constant_f32", [], ["f32{1024,9216}"], [struct.pack("f", 1)], True, sizes_are_made_up=True),
    Signature("constant_i32", [], ["i32{1}"], [struct.pack("i", 1)], True, sizes_are_made_up=True),
    Signature("strided_view", ["f32{8400896}"], ["f32{1024,1024}"], [strided(0, [1, 1024])], True),
    Signature(
        "strided_insert",
        ["f32{8400896}", "f32{1024,1024}"],
        ["f32{8400896}"],
        [strided(0, [1, 1024])],
        sizes_are_made_up=True,
    ),
    Signature("broadcast", ["bf16{128,2048,1,8,1}"], ["bf16{128,2048,8,8,1}"]),
    Signature("mult_fwd_bf16", [_HIDDEN, "i8{768,128,32}"], [_HIDDEN], sizes_are_made_up=True),
    Signature("mult_fwd_bf16", ["bf16{4,2}", "bf16{1}"], ["bf16{4,2}"]),
    Signature("mult_fwd_f32", ["f32{64,7,7,32}", "f32{1,1,1,1}"], ["f32{64,7,7,32}"], sizes_are_made_up=True),
    # The bias of BiasAdd.
    Signature("reshape", ["f32{1024}"], ["f32{1024,1}"], result_is_free=True, sizes_are_made_up=True),
    Signature("add_fwd_f32", ["f32{1024,128}", "f32{1024,1}"], ["f32{1024,128}"], sizes_are_made_up=True),
    Signature("relu_fwd_f32", ["f32{64,7,7,32}"], ["f32{64,7,7,32}"], sizes_are_made_up=True),
    Signature("relu_bwd_f32", ["f32{64,7,7,32}"] * 2, ["f32{64,7,7,32}"], sizes_are_made_up=True),
]


def table() -> str:
    """Returns the signatures for tests in C++: guid, operands, results and sizes of params, one node a line."""
    return "".join(
        f"{s.guid}|{';'.join(s.operands)}|{';'.join(s.results)}|{','.join(str(len(params)) for params in s.params)}\n"
        for s in SIGNATURES
    )


if __name__ == "__main__":
    sys.stdout.write(table())
