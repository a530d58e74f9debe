"""Cases of the Keras sweep: every public layer of tf.keras, with arguments and inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tests.keras.case import Case, given
from tests.keras.data import IMAGE, SEQUENCE, VECTOR, VOLUME, floats, integers

L = tf.keras.layers
BY_RANK = {"1D": SEQUENCE, "2D": IMAGE, "3D": VOLUME}
MANY = (8, 16, 16, 3)  # enough numbers to check their distribution

# Public names without a case, with the reasons.
NO_LAYERS = {
    "AbstractRNNCell": "a base class",
    "DenseFeatures": "takes feature columns, which TensorFlow has deprecated",
    "Input": "gives no results of its own",
    "InputLayer": "gives no results of its own",
    "InputSpec": "no layer",
    "Layer": "a base class",
    "Wrapper": "a base class",
    "deserialize": "no layer",
    "experimental": "a module; its layers are listed by their names",
    "serialize": "no layer",
}

_CONVOLUTION = {"filters": 4, "kernel_size": 3}
# Keyword arguments by layer name. Layers outside this table and WRAPPERS need none.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "Activation": {"activation": "tanh"},
    "ActivityRegularization": {"l2": 0.1},
    "AlphaDropout": {"rate": 0.3},
    "CategoryEncoding": {"num_tokens": 6},
    "CenterCrop": {"height": 5, "width": 4},
    **{
        f"{kind}{n}": _CONVOLUTION
        for kind in ("Conv", "Convolution", "SeparableConv", "LocallyConnected")
        for n in ("1D", "2D", "3D")
    },
    **{
        f"{kind}{n}Transpose": {**_CONVOLUTION, "strides": 2}
        for kind in ("Conv", "Convolution")
        for n in ("1D", "2D", "3D")
    },
    "SeparableConvolution1D": _CONVOLUTION,
    "SeparableConvolution2D": _CONVOLUTION,
    **{f"ConvLSTM{n}": {"filters": 2, "kernel_size": 3} for n in ("1D", "2D", "3D")},
    "Cropping1D": {"cropping": 1},
    "Dense": {"units": 5, "activation": "relu"},
    "DepthwiseConv1D": {"kernel_size": 3, "depth_multiplier": 2},
    "DepthwiseConv2D": {"kernel_size": 3, "depth_multiplier": 2},
    "Discretization": {"bin_boundaries": [-0.5, 0.0, 0.7]},
    "Dot": {"axes": 1},
    "Dropout": {"rate": 0.3},
    "EinsumDense": {"equation": "abc,cd->abd", "output_shape": (None, 5), "bias_axes": "d"},
    "Embedding": {"input_dim": 6, "output_dim": 3},
    "GaussianDropout": {"rate": 0.3},
    "GaussianNoise": {"stddev": 0.5},
    "GroupNormalization": {"groups": 3},
    **{name: {"units": 5} for name in ("GRU", "GRUCell", "LSTM", "LSTMCell", "SimpleRNN", "SimpleRNNCell")},
    "HashedCrossing": {"num_bins": 5},
    "Hashing": {"num_bins": 5},
    "IntegerLookup": {"vocabulary": [1, 3, 5]},
    "Lambda": {"function": lambda x: tf.sin(x) * 2.0},
    "MultiHeadAttention": {"num_heads": 2, "key_dim": 3},
    "Normalization": {"mean": 0.2, "variance": 1.7},
    "Permute": {"dims": (2, 1)},
    "RandomBrightness": {"factor": 0.4, "value_range": (-3.0, 3.0)},
    "RandomContrast": {"factor": 0.4},
    "RandomCrop": {"height": 9, "width": 10},
    "RandomHeight": {"factor": 0.3},
    "RandomRotation": {"factor": 0.2},
    "RandomTranslation": {"height_factor": 0.2, "width_factor": 0.1},
    "RandomWidth": {"factor": 0.3},
    "RandomZoom": {"height_factor": 0.2},
    "RandomFourierFeatures": {"output_dim": 8, "trainable": True},
    "RepeatVector": {"n": 3},
    "Rescaling": {"scale": 0.5, "offset": 1.0},
    "Reshape": {"target_shape": (3, 2)},
    "Resizing": {"height": 5, "width": 7},
    **{f"SpatialDropout{n}": {"rate": 0.3} for n in ("1D", "2D", "3D")},
    "StringLookup": {"vocabulary": ["a", "b"]},
    "TextVectorization": {"vocabulary": ["a", "b"], "output_sequence_length": 3},
    "UnitNormalization": {},
}
# Layers that wrap or combine other layers.
WRAPPERS: dict[str, Callable[[], Any]] = {
    "Bidirectional": lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)),
    "RNN": lambda: L.RNN(L.SimpleRNNCell(4), return_sequences=True),
    "SpectralNormalization": lambda: L.SpectralNormalization(L.Dense(4)),
    "StackedRNNCells": lambda: L.RNN(L.StackedRNNCells([L.GRUCell(3), L.LSTMCell(4)])),
    "TimeDistributed": lambda: L.TimeDistributed(L.Dense(3)),
}
_TWO = ([floats(4, 6), floats(4, 6, seed=1)],)
# Inputs by layer name, if neither the dimensions in the name nor a vector fit.
INPUTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"), _TWO),
    **{name: ([floats(*SEQUENCE), floats(*SEQUENCE, seed=1)],) for name in ("Attention", "AdditiveAttention")},
    "AlphaDropout": (floats(64, 64),),
    "Dropout": (floats(64, 64),),
    "GaussianDropout": (floats(64, 64),),
    "GaussianNoise": (floats(64, 64),),
    "MultiHeadAttention": (floats(*SEQUENCE), floats(*SEQUENCE, seed=1)),
    **{
        name: (floats(*SEQUENCE),)
        for name in (
            "GRU",
            "LSTM",
            "SimpleRNN",
            "RNN",
            "Bidirectional",
            "TimeDistributed",
            "StackedRNNCells",
            "EinsumDense",
            "Masking",
            "Permute",
            "LayerNormalization",
        )
    },
    **{
        name: (floats(*IMAGE),)
        for name in (
            "BatchNormalization",
            "CenterCrop",
            "GroupNormalization",
            "Resizing",
            "Rescaling",
            "SyncBatchNormalization",
        )
    },
    **{
        name: (floats(*MANY),)
        for name in (
            "RandomBrightness",
            "RandomContrast",
            "RandomCrop",
            "RandomFlip",
            "RandomHeight",
            "RandomRotation",
            "RandomTranslation",
            "RandomWidth",
            "RandomZoom",
        )
    },
    **{
        f"SpatialDropout{n}": (floats(*shape),)
        for n, shape in (("1D", (32, 4, 64)), ("2D", (32, 4, 4, 64)), ("3D", (32, 2, 2, 2, 64)))
    },
    "ConvLSTM1D": (floats(2, 3, 8, 2),),
    "ConvLSTM2D": (floats(2, 3, 6, 6, 2),),
    "ConvLSTM3D": (floats(2, 3, 4, 4, 4, 2),),
    "GRUCell": (floats(4, 6), floats(4, 5)),
    "SimpleRNNCell": (floats(4, 6), floats(4, 5)),
    "LSTMCell": (floats(4, 6), [floats(4, 5), floats(4, 5, seed=1)]),
    "CategoryEncoding": (integers(4, 3, below=6),),
    "Embedding": (integers(4, 3, below=6),),
    "Hashing": (integers(4, 3, below=100),),
    "HashedCrossing": ((integers(4, 1, below=100), integers(4, 1, below=100, seed=1)),),
    "IntegerLookup": (integers(4, 3, below=7, dtype=np.int64),),
    "StringLookup": (np.array([["a", "b", "c"]]),),
    "TextVectorization": (np.array(["a b", "c a"]),),
}
RANDOM = {
    "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "RandomBrightness", "RandomContrast", "RandomCrop",
    "RandomFlip", "RandomHeight", "RandomRotation", "RandomTranslation", "RandomWidth", "RandomZoom",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
}  # fmt: skip
# Integer layers, and RandomContrast, for whose op TensorFlow has no gradient.
WITHOUT_GRADIENT = {
    "RandomContrast", "CategoryEncoding", "Discretization", "HashedCrossing", "Hashing", "IntegerLookup",
    "StringLookup", "TextVectorization",
}  # fmt: skip
TEXT = "takes text, which is the input pipeline's"
# Further variants of layers: name, description, arguments, options of the call.
VARIANTS: tuple[tuple[str, str, dict[str, Any], dict[str, Any]], ...] = (
    ("BatchNormalization", "training", {}, {"training": True}),
    ("Conv2D", "dilated", {"dilation_rate": 2, "padding": "same"}, {}),
    ("Conv2D", "groups", {"filters": 6, "groups": 3}, {}),
    ("Conv1D", "causal", {"padding": "causal"}, {}),
    ("GRU", "reset before", {"reset_after": False, "return_sequences": True}, {}),
    ("LSTM", "backwards, with states", {"go_backwards": True, "return_state": True}, {}),
    ("LSTM", "unrolled", {"unroll": True}, {}),
    ("LSTM", "dropout", {"activation": "relu", "return_sequences": True}, {}),
    ("LayerNormalization", "axes 1 and 2", {"axis": [1, 2]}, {}),
    ("Attention", "scaled", {"use_scale": True}, {}),
    ("MultiHeadAttention", "causal", {}, {"use_causal_mask": True}),
    ("MaxPooling2D", "overlapping", {"pool_size": 3, "strides": 2, "padding": "same"}, {}),
    ("AveragePooling2D", "overlapping", {"pool_size": 3, "strides": 2, "padding": "same"}, {}),
    ("UpSampling2D", "bilinear", {"interpolation": "bilinear"}, {}),
    ("Resizing", "nearest", {"interpolation": "nearest"}, {}),
    ("Resizing", "bicubic", {"interpolation": "bicubic"}, {}),
    ("Discretization", "multi-hot", {"output_mode": "multi_hot"}, {}),
    ("CategoryEncoding", "count", {"output_mode": "count"}, {}),
)


def names() -> dict[str, list[str]]:
    """Returns the public layers, each with its aliases."""
    found: dict[Any, list[str]] = {}
    for module in (L, L.experimental):
        for name in sorted(dir(module)):
            if not name.startswith("_") and name not in (*NO_LAYERS, "preprocessing"):
                same = found.setdefault(getattr(module, name), [])
                same += [name] if name not in same else []
    return {same[0]: same[1:] for same in found.values()}


def _class(name: str) -> Any:
    return getattr(L, name, None) or getattr(L.experimental, name)


def _inputs(name: str) -> tuple[Any, ...]:
    if name in INPUTS:
        return INPUTS[name]
    for rank, shape in BY_RANK.items():
        if rank in name:
            return (floats(*shape),)
    return (floats(*VECTOR),)


def _make(name: str, more: dict[str, Any]) -> Any:
    if name in WRAPPERS:
        return WRAPPERS[name]()
    return _class(name)(**{**ARGUMENTS.get(name, {}), **more})


class ChannelsLast:
    """Channels-last equivalent of a channels-first layer, because the CPU lacks channels-first kernels."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layer, name)

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        rank = x.shape.rank
        y = self._layer(tf.transpose(x, [0, *range(2, rank), 1]))
        return y if y.shape.rank < rank else tf.transpose(y, [0, rank - 1, *range(1, rank - 1)])


# Layers whose weights or results differ in shape between channels-first and channels-last.
NO_TWIN = {"Flatten", "LocallyConnected1D", "LocallyConnected2D", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"}


def _channels_first(name: str) -> Iterator[Case]:
    layer = _class(name)
    if name in NO_TWIN or not isinstance(layer, type) or name in WRAPPERS or len(_inputs(name)) != 1:
        return
    try:
        takes = "data_format" in _make(name, {}).get_config()
    except (TypeError, ValueError):
        return
    if not takes:
        return
    (x,) = _inputs(name)
    yield Case(
        "layers",
        name,
        functools.partial(_make, name, {"data_format": "channels_first"}),
        (np.moveaxis(x, -1, 1),),
        options={"training": True} if name in RANDOM else {},
        random=name in RANDOM,
        variant="channels first",
        reference=lambda: ChannelsLast(_make(name, {})),
    )


def cases() -> Iterator[Case]:
    """Yields the cases of each layer, then the variants."""
    for name in names():
        if name[0].islower():  # functions such as add and concatenate
            function = _class(name)
            options = {"axes": 1} if name == "dot" else {}
            yield Case("layers", name, functools.partial(given, function), _TWO, options)
            continue
        random, host = name in RANDOM, TEXT if name in ("StringLookup", "TextVectorization") else ""
        yield Case(
            "layers",
            name,
            functools.partial(_make, name, {}),
            _inputs(name),
            options={"training": True} if random else {},
            random=random,
            gradients=name not in WITHOUT_GRADIENT,
            host=host,
        )
        if random and name.startswith(("Dropout", "Random")):
            idle = {"training": False}
            still_random = name in ("RandomHeight", "RandomWidth")
            make = functools.partial(_make, name, {})
            yield Case("layers", name, make, _inputs(name), idle, variant="not training", random=still_random)
        if not host:
            yield from _channels_first(name)
    for name, variant, arguments, options in VARIANTS:
        yield Case(
            "layers",
            name,
            functools.partial(_make, name, arguments),
            _inputs(name),
            options,
            gradients=name not in WITHOUT_GRADIENT,
            variant=variant,
        )
