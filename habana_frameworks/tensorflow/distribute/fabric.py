"""Exchanges within the device: of groups whose HPUs are modules of one device server."""

from __future__ import annotations

import ctypes
import dataclasses

import tensorflow as tf
from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.errors import DeviceError
from tensorflow.python.ops import collective_ops

_UNIMPLEMENTED = 12
_TEXT_BYTES = 256
_DEVICE = "/device:HPU:0"
# Makes the key of the exchange below from that of its group.
_MEETING_BIT = 1 << 29

_answers: dict[int, bool] = {}


@dataclasses.dataclass(frozen=True)
class _Member:
    """What a rank says of itself."""

    rank: int
    identity: str  # for a communicator; empty where its device exchanges nothing with others
    task: str


def join(group_key: int, rank: int, size: int, *, in_calling_order: bool = False) -> bool:
    """Lets TensorFlow's group of that key exchange data in the device, if the HPUs of all its ranks are of one server.

    All ranks call it, eagerly, and wait for each other; the answer, whether they do, is the same on all.

    in_calling_order: all ranks issue all of the group's operations eagerly, in one order. Broadcasts of other groups
    keep to TensorFlow's transport, whether they are eager or in graphs.

    Raises errors.DeviceError if the server refuses it, or if a rank does not come within a minute.
    """
    if size == 1:
        return False
    if group_key not in _answers:  # strategies made one after another have the same key
        _answers[group_key] = _join(group_key, rank, size, in_calling_order)
    return _answers[group_key]


def _join(group_key: int, rank: int, size: int, in_calling_order: bool) -> bool:
    members = _exchange(group_key, rank, size)
    fabrics = {member.identity.partition(":")[0] for member in members}
    if len(fabrics) > 1 or "" in fabrics:
        return False
    place = [member.rank for member in members].index(rank)
    tasks = [member.task for member in members]
    _join_devices(group_key, members[0].identity, place, tasks, in_calling_order)
    return True


def _join_devices(group_key: int, identity: str, rank: int, tasks: list[str], in_calling_order: bool) -> None:
    """`rank` is TensorFlow's, the place of this process's task."""
    message = c_api.Buffer()
    call = c_api.function(plugin_library.handle(), "hpu_communicator_join")
    call.restype = ctypes.c_int32
    names = "\n".join(tasks).encode()
    code = call(group_key, identity.encode(), rank, len(tasks), names, int(in_calling_order), ctypes.byref(message))
    text = c_api.take(plugin_library.handle(), message).decode(errors="replace")
    if code != 0:
        raise DeviceError(code, f"{tasks[rank]} cannot exchange data in the device server: {text}")


def _new_id() -> str:
    """Empty where the backend's devices exchange nothing among themselves, or must not."""
    if flags.collective_fabric() == "off":
        return ""
    out = c_api.Buffer()
    call = c_api.function(plugin_library.handle(), "hpu_communicator_id")
    call.restype = ctypes.c_int32
    code = call(ctypes.byref(out))
    text = c_api.take(plugin_library.handle(), out).decode(errors="replace")
    if code not in (0, _UNIMPLEMENTED):
        raise DeviceError(code, text)
    return text if code == 0 else ""


def _exchange(group_key: int, rank: int, size: int) -> list[_Member]:
    """All ranks, in TensorFlow's order, in which its ops put together what they gather."""
    with tf.device(_DEVICE):
        task = tf.constant(0).device.partition("/device:")[0]
        row = b"".join(text.encode().ljust(_TEXT_BYTES, b"\0") for text in (_new_id(), task))
        gathered = collective_ops.all_gather_v2(
            tf.constant([[rank, *row]], tf.int32), group_size=size, group_key=_MEETING_BIT ^ group_key, instance_key=1
        )
    members = []
    for one in gathered.numpy():
        identity, task = (
            bytes(part.tolist()).rstrip(b"\0").decode() for part in (one[1 : 1 + _TEXT_BYTES], one[1 + _TEXT_BYTES :])
        )
        members.append(_Member(int(one[0]), identity, task))
    return members
