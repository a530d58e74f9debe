"""Reductions within the device: of groups whose HPUs are modules of one device server."""

from __future__ import annotations

import ctypes

import tensorflow as tf
from habana_frameworks.tensorflow import _c_api, library_loader
from habana_frameworks.tensorflow.errors import DeviceError
from tensorflow.python.ops import collective_ops

_UNIMPLEMENTED = 12
_ID_BYTES = 256
# Makes the key of the exchange below from that of its group.
_MEETING_BIT = 1 << 29

_answers: dict[int, bool] = {}


def join(group_key: int, rank: int, size: int) -> bool:
    """Lets TensorFlow's group of that key reduce in the device, if the HPUs of all its ranks are of one server.

    All ranks call it, eagerly, and wait for each other; the answer, whether they do, is the same on all.

    Raises errors.DeviceError if the server refuses it, or if a rank does not come within a minute.
    """
    if size == 1:
        return False
    if group_key not in _answers:  # strategies made one after another have the same key
        _answers[group_key] = _join(group_key, rank, size)
    return _answers[group_key]


def _join(group_key: int, rank: int, size: int) -> bool:
    ids = _exchange(group_key, rank, size, _new_id())
    fabrics = {identity.partition(":")[0] for identity in ids}
    if len(fabrics) > 1 or "" in fabrics:
        return False
    message = _c_api.Buffer()
    call = _c_api.function(library_loader.plugin(), "hpu_communicator_join")
    call.restype = ctypes.c_int32
    code = call(group_key, ids[0].encode(), rank, size, ctypes.byref(message))
    text = _c_api.take(library_loader.plugin(), message).decode(errors="replace")
    if code != 0:
        raise DeviceError(code, f"rank {rank} of {size} cannot reduce in the device server: {text}")
    return True


def _new_id() -> str:
    """Empty where the backend's devices reduce nothing among themselves."""
    out = _c_api.Buffer()
    call = _c_api.function(library_loader.plugin(), "hpu_communicator_id")
    call.restype = ctypes.c_int32
    code = call(ctypes.byref(out))
    text = _c_api.take(library_loader.plugin(), out).decode(errors="replace")
    if code not in (0, _UNIMPLEMENTED):
        raise DeviceError(code, text)
    return text if code == 0 else ""


def _exchange(group_key: int, rank: int, size: int, identity: str) -> list[str]:
    """The ids of all ranks, by rank, whatever order TensorFlow gives them."""
    row = [rank, *identity.encode().ljust(_ID_BYTES, b"\0")]
    with tf.device("/device:HPU:0"):
        gathered = collective_ops.all_gather_v2(
            tf.constant([row], tf.int32), group_size=size, group_key=_MEETING_BIT ^ group_key, instance_key=1
        )
    ids = {int(one[0]): bytes(one[1:].tolist()).rstrip(b"\0").decode() for one in gathered.numpy()}
    return [ids[index] for index in range(size)]
