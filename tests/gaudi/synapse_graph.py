"""Graphs, recipes and launches of the Synapse double, for tests. Index 0 of sizes is the fastest dimension."""

from __future__ import annotations

import ctypes
import pathlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.gaudi.kernel_library import TYPE_CODES
from tests.gaudi.synapse_library import DEVICE_TO_HOST, HOST_TO_DEVICE, Double
from tests.gaudi.synapse_library import UNSUPPORTED as UNSUPPORTED

# synStatus
OBJECT_ALREADY_INITIALIZED = 5
DEVICE_TYPE_MISMATCH = 9
NAME_IS_ALREADY_USED = 21
INVALID_TENSOR_DIMENSIONS = 25
FAILED_SECTION_VALIDATION = 30
INVALID_TENSOR_PROPERTIES = 39
# synTensorType
DATA_TENSOR = 0
SHAPE_TENSOR = 1
# synGeometryType
MIN_SIZES = 0
MAX_SIZES = 1
# synLaunch
FIND_BY_NAME = 1
COMPUTE = 3  # synStreamType

DEVICE_TYPES = {"1.5": {"gaudi": 0, "gaudi2": 1}, "1.18": {"gaudi": 2, "gaudi2": 4, "gaudi3": 5}}
DEFAULT_GENERATION = {"1.5": "gaudi", "1.18": "gaudi2"}
INVALID_ID = 2**64 - 1
GUARD = b"\xd9" * 16

Sizes = Sequence[int]
# Runs a test for release 1.18 only, because release 1.5 lacks its functions.
only_1_18 = pytest.mark.parametrize("double", ["1.18"], indirect=True)


def _dimensions(double: Double) -> tuple[int, Any]:
    return (5, ctypes.c_uint32) if double.is_1_5 else (25, ctypes.c_uint64)


def guarded(struct: ctypes.Structure | ctypes.Array[Any]) -> ctypes.Structure:
    """Returns a struct with a copy of `struct` in the field `value`, followed by guard bytes."""

    class Guarded(ctypes.Structure):
        _fields_ = (("value", type(struct)), ("guard", ctypes.c_uint8 * len(GUARD)))

    return Guarded(struct, tuple(GUARD))


def geometry(double: Double, sizes: Sizes) -> Any:
    """Returns a synTensorGeometry."""
    count, number = _dimensions(double)

    class Geometry(ctypes.Structure):
        _fields_ = (("sizes", number * count), ("dims", ctypes.c_uint32))

    made = Geometry(dims=len(sizes))
    for i, size in enumerate(sizes[:count]):
        made.sizes[i] = size
    return guarded(made)


def full_layout(double: Double, type_code: int, strides: Sizes = ()) -> Any:
    """Returns a synTensorDeviceFullLayout."""

    class FullLayout(ctypes.Structure):
        _fields_ = (("strides", ctypes.c_uint32 * _dimensions(double)[0]), ("type", ctypes.c_uint32))

    made = FullLayout(type=type_code)
    for i, stride in enumerate(strides):
        made.strides[i] = stride
    return guarded(made)


def permutation(double: Double, dimensions: Sizes) -> Any:
    """Returns a synTensorPermutation."""

    class Permutation(ctypes.Structure):
        _fields_ = (("permutation", ctypes.c_uint8 * _dimensions(double)[0]), ("dims", ctypes.c_uint8))

    made = Permutation(dims=len(dimensions))
    for i, dimension in enumerate(dimensions):
        made.permutation[i] = dimension
    return guarded(made)


class RetrievedInfo(ctypes.Structure):
    """synRetrievedLaunchTensorInfo of release 1.18."""

    _fields_ = (
        ("name", ctypes.c_char * 1024),
        ("id", ctypes.c_uint64),
        ("kind", ctypes.c_uint32),
        ("type", ctypes.c_uint32),
        ("dims", ctypes.c_uint32),
        ("max_sizes", ctypes.c_uint64 * 25),
        ("min_sizes", ctypes.c_uint64 * 25),
        ("permutation", ctypes.c_uint8 * 25),
        ("section", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("is_input", ctypes.c_uint8),
        ("reserved", ctypes.c_uint32 * 10),
    )


class Graph:
    """A graph under construction. Calls must succeed, except in node_status() and refuses_…()."""

    def __init__(self, double: Double, generation: str | None = None) -> None:
        self.double = double
        device_type = DEVICE_TYPES[double.release][generation or DEFAULT_GENERATION[double.release]]
        self.handle = double.new("synGraphCreate", device_type)

    def section(self, persistent: bool = True, const: bool = False) -> Any:
        section = self.double.new("synSectionCreate", 0, self.handle)
        if persistent:
            self.double.ok("synSectionSetPersistent", section, True)
        if const:
            self.double.ok("synSectionSetConst", section, True)
        return section

    def bare(self, name: str | None = None, kind: int = DATA_TENSOR) -> Any:
        """Returns a tensor without properties."""
        return self.double.new("synTensorHandleCreate", self.handle, kind, name.encode() if name else None)

    def set_sizes(self, tensor: Any, sizes: Sizes, which: int = MAX_SIZES) -> None:
        self.double.ok("synTensorSetGeometry", tensor, ctypes.byref(geometry(self.double, sizes)), which)

    def set_type(self, tensor: Any, dtype: Any) -> None:
        self.double.ok("synTensorSetDeviceFullLayout", tensor, ctypes.byref(full_layout(self.double, code(dtype))))

    def set_data(self, tensor: Any, data: np.ndarray, copy: bool = True, size: int | None = None) -> None:
        data = np.ascontiguousarray(data)
        size = data.nbytes if size is None else size
        self.double.ok("synTensorSetHostPtr", tensor, data.ctypes.data, size, code(data.dtype), copy)

    def tensor(
        self, sizes: Sizes, dtype: Any = np.float32, name: str | None = None, section: Any = None, offset: int = 0
    ) -> Any:
        """Returns a tensor in the workspace, or in a section."""
        tensor = self.bare(name)
        self.set_sizes(tensor, sizes)
        self.set_type(tensor, dtype)
        if section is not None:
            self.double.ok("synTensorAssignToSection", tensor, section, offset)
        return tensor

    def persistent(self, name: str, sizes: Sizes, dtype: Any = np.float32) -> Any:
        """Returns a tensor in a persistent section of its own."""
        return self.tensor(sizes, dtype, name, self.section())

    def constant(self, data: np.ndarray, section: Any = None) -> Any:
        tensor = self.tensor(data.shape[::-1] or (1,), data.dtype, section=section)
        self.set_data(tensor, data)
        return tensor

    def shape(self, sizes: Sizes) -> Any:
        tensor = self.bare(kind=SHAPE_TENSOR)
        self.set_sizes(tensor, sizes)
        return tensor

    def _node_arguments(
        self, guid: str, inputs: Sequence[Any], outputs: Sequence[Any], params: bytes, name: str | None, node: Any
    ) -> tuple[Any, ...]:
        return (
            *(self.handle, _handles(inputs), _handles(outputs), len(inputs), len(outputs), params or None, len(params)),
            *(guid.encode(), name.encode() if name else None, ctypes.byref(node), None, None),
        )

    def node(
        self, guid: str, inputs: Sequence[Any], outputs: Sequence[Any], params: bytes = b"", name: str | None = None
    ) -> int:
        """Returns the id of a new node."""
        node = ctypes.c_uint64()
        self.double.ok("synNodeCreateWithId", *self._node_arguments(guid, inputs, outputs, params, name, node))
        return node.value

    def refuses_node(
        self, status: int, rule: int, guid: str, inputs: Sequence[Any], outputs: Sequence[Any], params: bytes = b""
    ) -> str:
        """Creates a node, which must break a rule. Returns the log."""
        arguments = self._node_arguments(guid, inputs, outputs, params, "refused", ctypes.c_uint64())
        return self.double.refuses(status, rule, "synNodeCreateWithId", *arguments)

    def node_status(
        self, guid: str, inputs: Sequence[Any], outputs: Sequence[Any], params: bytes = b""
    ) -> tuple[int, str]:
        """Creates a node. Returns status and log."""
        self.double.take_log()
        arguments = self._node_arguments(guid, inputs, outputs, params, None, ctypes.c_uint64())
        status = self.double.call("synNodeCreateWithId", *arguments)
        return status, self.double.take_log()

    def order(self, blocking: Sequence[int], blocked: Sequence[int]) -> None:
        """Makes the `blocked` nodes run after the `blocking` nodes."""
        arrays = [(ctypes.c_uint64 * len(ids))(*ids) for ids in (blocking, blocked)]
        self.double.ok("synNodeDependencySet", self.handle, *arrays, len(blocking), len(blocked))

    def compile(self, name: str = "recipe") -> Recipe:
        return Recipe(self.double, self.double.new("synGraphCompile", self.handle, name.encode(), None))

    def refuses_compile(self, status: int, rule: int) -> str:
        recipe = ctypes.c_void_p()
        return self.double.refuses(status, rule, "synGraphCompile", ctypes.byref(recipe), self.handle, b"recipe", None)


class Recipe:
    """A compiled graph."""

    def __init__(self, double: Double, handle: Any) -> None:
        self.double = double
        self.handle = handle

    def workspace_size(self) -> int:
        return int(self.double.new("synWorkspaceGetSize", self.handle, type=ctypes.c_uint64))

    def ids(self, names: Sequence[str]) -> list[int]:
        texts = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
        ids = (ctypes.c_uint64 * len(names))()
        self.double.ok("synTensorRetrieveIds", self.handle, texts, ids, len(names))
        return list(ids)

    def names(self) -> list[str]:
        """Returns the names of the persistent tensors."""
        count = ctypes.c_uint32()
        self.double.ok("synTensorRetrievePersistentAmount", self.handle, ctypes.byref(count))
        buffers = ((ctypes.c_char * 1024) * count.value)()
        self.double.ok("synTensorRetrieveNames", self.handle, buffers, count.value)
        return [buffer.value.decode() for buffer in buffers]

    def attribute(self, number: int) -> int:
        attribute = ctypes.c_uint32(number)
        arguments = (ctypes.byref(attribute), 1, self.handle)
        return int(self.double.new("synRecipeGetAttribute", *arguments, type=ctypes.c_uint64))

    def infos(self, ids: Sequence[int]) -> list[RetrievedInfo]:
        infos = guarded((RetrievedInfo * len(ids))(*(RetrievedInfo(id=number) for number in ids)))
        self.double.ok("synTensorRetrieveLaunchInfoById", self.handle, len(ids), ctypes.byref(infos))
        return list(infos.value)

    def serialized(self, path: pathlib.Path) -> Recipe:
        """Writes this recipe to a file, and returns the recipe that is read from it."""
        self.double.ok("synRecipeSerialize", self.handle, str(path).encode())
        return Recipe(self.double, self.double.new("synRecipeDeSerialize", str(path).encode()))

    def tensors(self, addresses: Mapping[str, int]) -> list[LaunchTensor]:
        names = list(addresses)
        return [LaunchTensor(name, number, addresses[name]) for name, number in zip(names, self.ids(names))]

    def launch(self, stream: Any, tensors: Sequence[LaunchTensor], workspace: int = 0, flags: int = 0) -> None:
        array = launch_array(self.double, tensors)
        self.double.ok("synLaunch", stream, array, len(tensors), workspace, self.handle, flags)

    def refuses_launch(
        self, status: int, stream: Any, tensors: Sequence[LaunchTensor], workspace: int = 0, flags: int = 0
    ) -> str:
        array = launch_array(self.double, tensors)
        return self.double.refuses(status, 18, "synLaunch", stream, array, len(tensors), workspace, self.handle, flags)


class LaunchTensor:
    """One tensor of a launch."""

    def __init__(self, name: str, number: int, address: int, sizes: Sizes = (), kind: int = DATA_TENSOR) -> None:
        self.name = ctypes.c_char_p(name.encode())
        self.number = number
        self.address = address
        self.sizes = sizes
        self.kind = kind

    def pack(self, double: Double) -> bytes:
        count, _ = _dimensions(double)
        sizes = [*self.sizes, *[0] * (count - len(self.sizes))]
        head = struct.pack("QQI", ctypes.cast(self.name, ctypes.c_void_p).value or 0, self.address, self.kind)
        if double.is_1_5:
            return head + struct.pack("5I", *sizes)
        return head + struct.pack("<4x25QQ", *sizes, self.number)


def launch_array(double: Double, tensors: Iterable[LaunchTensor], guard: bytes = GUARD) -> Any:
    """Returns an array of synLaunchTensorInfo, followed by guard bytes."""
    data = b"".join(tensor.pack(double) for tensor in tensors) + guard
    return ctypes.create_string_buffer(data, len(data))


class Machine:
    """A device, with streams for copies and launches."""

    def __init__(self, double: Double, device: int) -> None:
        self.double = double
        self.device = device
        self.to_device = double.create_stream(device, HOST_TO_DEVICE)
        self.compute = double.create_stream(device, COMPUTE)
        self.to_host = double.create_stream(device, DEVICE_TO_HOST)

    def allocate(self, size: int) -> int:
        return self.double.allocate(self.device, max(size, 1))

    def upload(self, array: np.ndarray, address: int | None = None) -> int:
        """Copies an array to new device memory, or to an address. Returns the address."""
        address = self.allocate(array.nbytes) if address is None else address
        host = self.double.allocate_host(self.device, max(array.nbytes, 1))
        ctypes.memmove(host, np.ascontiguousarray(array).ctypes.data, array.nbytes)
        self.double.ok("synMemCopyAsync", self.to_device, host, array.nbytes, address, HOST_TO_DEVICE)
        self.double.ok("synStreamSynchronize", self.to_device)
        return address

    def download(self, address: int, shape: Sequence[int], dtype: Any) -> np.ndarray:
        array = np.empty(shape, dtype)
        host = self.double.allocate_host(self.device, max(array.nbytes, 1))
        self.double.ok("synMemCopyAsync", self.to_host, address, array.nbytes, host, DEVICE_TO_HOST)
        self.double.ok("synStreamSynchronize", self.to_host)
        ctypes.memmove(array.ctypes.data, host, array.nbytes)
        return array

    def workspace(self, recipe: Recipe) -> int:
        size = recipe.workspace_size()
        return self.allocate(size) if size else 0

    def launch(self, recipe: Recipe, addresses: Mapping[str, int]) -> None:
        """Launches a recipe and waits for it."""
        recipe.launch(self.compute, recipe.tensors(addresses), self.workspace(recipe))
        self.double.ok("synStreamSynchronize", self.compute)

    def run(
        self, recipe: Recipe, inputs: Mapping[str, np.ndarray], results: Mapping[str, tuple[Sequence[int], Any]]
    ) -> dict[str, np.ndarray]:
        """Returns the results of one launch. Shapes are numpy's; each tensor has a section of its own."""
        addresses = {name: self.upload(array) for name, array in inputs.items()}
        for name, (shape, dtype) in results.items():
            addresses[name] = self.allocate(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        self.launch(recipe, addresses)
        return {name: self.download(addresses[name], shape, dtype) for name, (shape, dtype) in results.items()}


def code(dtype: Any) -> int:
    """Returns the synDataType of a numpy type. Returns numbers unchanged."""
    return dtype if isinstance(dtype, int) else TYPE_CODES[np.dtype(dtype)]


def _handles(tensors: Sequence[Any]) -> Any:
    return (ctypes.c_void_p * max(len(tensors), 1))(*tensors)


def gemm(transpose_a: bool = False, transpose_b: bool = False) -> bytes:
    """Returns a synGEMMParams."""
    return struct.pack("??", transpose_a, transpose_b)


def axis(number: int) -> bytes:
    """Returns a synAxisParams."""
    return struct.pack("I", number)


def transpose(dimensions: Sizes, size: int | None = None) -> bytes:
    """Returns synTransposeParams (24 bytes), which all releases know, or synTransposeParamsNDims (104) above rank 5."""
    if size == 24 or (size is None and len(dimensions) <= 5):
        return struct.pack("5II", *dimensions, *[0] * (5 - len(dimensions)), len(dimensions))
    return struct.pack("I25I", len(dimensions), *dimensions, *[0] * (25 - len(dimensions)))


def convolution(
    kernel: Sizes,
    stride: Sizes = (1, 1),
    pads: Sizes = (0, 0, 0, 0),
    dilation: Sizes = (1, 1),
    groups: int = 1,
    size: int = 72,
    padding_type: int = 0,
) -> bytes:
    """Returns synConvolutionParams of a version: kernel, stride and dilation by width and height, pads L, R, T, B."""
    activation = struct.pack("??HIQQ", False, False, 0, 1, 0, 0)
    params = struct.pack("4I4i2I", *kernel, *stride, *pads, *dilation) + activation + struct.pack("II", groups, 0)
    return params + struct.pack("i", padding_type).ljust(size - 72, b"\0") if size > 72 else params


def convolution_3d(kernel: Sizes, stride: Sizes = (1, 1, 1), pads: Sizes = (0,) * 6, size: int = 96) -> bytes:
    """Returns synConvolution3DParams of a version."""
    activation = struct.pack("??HIQQ", False, False, 0, 1, 0, 0)
    params = struct.pack("6I6i3II", *kernel, *stride, *pads, 1, 1, 1, 0) + activation + struct.pack("II", 1, 0)
    return params.ljust(size, b"\0")


def slices(entries: Sequence[tuple[int, int, int, int]], size: int = 80) -> bytes:
    """Returns slice params of `size` bytes. All releases know the default size.

    An entry is axis, start, end, step.
    """
    count = 5 if size == 80 else 25
    columns = [[entry[i] for entry in entries] + [0] * (count - len(entries)) for i in range(4)]
    if size == 704:
        return struct.pack("25I4x", *columns[0]) + b"".join(struct.pack("25Q", *column) for column in columns[1:])
    return b"".join(struct.pack(f"{count}I", *column) for column in columns)


def strided(offset: int, strides: Sizes) -> bytes:
    """Returns a synStridedOpParams."""
    return struct.pack("26Q", offset, *strides, *[0] * (25 - len(strides)))
