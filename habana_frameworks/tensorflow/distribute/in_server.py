"""In-server collectives, for groups whose HPUs are modules of one device server. Data stays inside the server."""

from __future__ import annotations

import dataclasses

import tensorflow as tf
from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.errors import DeviceError
from tensorflow.python.ops import collective_ops

_UNIMPLEMENTED = 12
_TEXT_BYTES = 256
_DEVICE = "/device:HPU:0"
# XORed into a group's key to form the group key of the all_gather in _exchange().
_RENDEZVOUS_BIT = 1 << 29

_answers: dict[int, bool] = {}


@dataclasses.dataclass(frozen=True)
class _Member:
    """A rank's entry in the all_gather of _exchange()."""

    rank: int
    identity: str  # communicator id; empty if the rank's device does not support in-server collectives
    task: str


def join(group_key: int, rank: int, size: int, *, in_calling_order: bool = False) -> bool:
    """Makes TensorFlow's group `group_key` use in-server collectives, if all its HPUs belong to one device server.

    All ranks call join(), eagerly, and wait for each other. Returns whether the group uses in-server collectives; the
    result is the same on all ranks.

    in_calling_order: promises that all ranks issue the group's operations eagerly and in the same order. Broadcasts of
    groups without this promise always use TensorFlow's transport.

    Raises errors.DeviceError if the server refuses the group, or if a rank does not join within a minute.
    """
    if size == 1:
        return False
    if group_key not in _answers:  # successive strategies have the same key
        _answers[group_key] = _join(group_key, rank, size, in_calling_order)
    return _answers[group_key]


def _join(group_key: int, rank: int, size: int, in_calling_order: bool) -> bool:
    members = _exchange(group_key, rank, size)
    servers = {member.identity.partition(":")[0] for member in members}
    if len(servers) > 1 or "" in servers:
        return False
    place = [member.rank for member in members].index(rank)
    tasks = [member.task for member in members]
    _join_devices(group_key, members[0].identity, place, tasks, in_calling_order)
    return True


def _join_devices(group_key: int, identity: str, rank: int, tasks: list[str], in_calling_order: bool) -> None:
    """Joins the device server's communicator. `rank` is this process's index in `tasks`, in TensorFlow's order."""
    names = "\n".join(tasks).encode()
    arguments = (group_key, identity.encode(), rank, len(tasks), names, in_calling_order)
    code, message = c_api.outcome(plugin_library.handle(), "hpu_communicator_join", *arguments)
    if code != 0:
        text = message.decode(errors="replace")
        raise DeviceError(code, f"{tasks[rank]} cannot exchange data through the device server: {text}")


def _new_id() -> str:
    """Returns a new communicator id; "" if the backend lacks in-server collectives or the setting turns them off."""
    if flags.in_server_collectives() is flags.InServerCollectives.OFF:
        return ""
    code, out = c_api.outcome(plugin_library.handle(), "hpu_communicator_id")
    text = out.decode(errors="replace")
    if code not in (0, _UNIMPLEMENTED):
        raise DeviceError(code, text)
    return text if code == 0 else ""


def _exchange(group_key: int, rank: int, size: int) -> list[_Member]:
    """Gathers all ranks' entries, in the order in which TensorFlow's collective ops concatenate them."""
    with tf.device(_DEVICE):
        task = tf.constant(0).device.partition("/device:")[0]
        row = b"".join(text.encode().ljust(_TEXT_BYTES, b"\0") for text in (_new_id(), task))
        gathered = collective_ops.all_gather_v2(
            tf.constant([[rank, *row]], tf.int32),
            group_size=size,
            group_key=_RENDEZVOUS_BIT ^ group_key,
            instance_key=1,
        )
    members = []
    for one in gathered.numpy():
        identity, task = (
            bytes(part.tolist()).rstrip(b"\0").decode() for part in (one[1 : 1 + _TEXT_BYTES], one[1 + _TEXT_BYTES :])
        )
        members.append(_Member(int(one[0]), identity, task))
    return members
