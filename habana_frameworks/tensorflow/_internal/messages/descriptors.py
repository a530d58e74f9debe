"""Reads the descriptors of the messages, which the build writes to lib/messages.binpb."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import enum_type_wrapper

from habana_frameworks.tensorflow import lib_utils

_FILE = "messages.binpb"


def attributes(proto: str) -> Callable[[str], Any]:
    """Returns `__getattr__` of the module of a file of proto/. Raises ImportError if the package is not built."""
    contents = _contents(proto)

    def attribute(name: str) -> Any:
        try:
            return contents[name]
        except KeyError:
            raise AttributeError(f"{proto} has no {name}") from None

    return attribute


def _contents(proto: str) -> dict[str, Any]:
    """Returns the message classes, the enums and the enums' values of a file of proto/, by name."""
    file = _pool().FindFileByName(proto)
    found: dict[str, Any] = {
        name: message_factory.GetMessageClass(message) for name, message in file.message_types_by_name.items()
    }
    for name, enum in file.enum_types_by_name.items():
        found[name] = enum_type_wrapper.EnumTypeWrapper(enum)
        found.update((value.name, value.number) for value in enum.values)
    return found


@functools.cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(_read()).file:
        pool.Add(file)
    return pool


def _read() -> bytes:
    for directory in lib_utils.search_paths():
        if (directory / _FILE).is_file():
            return (directory / _FILE).read_bytes()
    raise ImportError(
        f"{lib_utils.search_paths()[0] / _FILE} is missing, because the package is not built or the build is older; "
        f"rebuild or reinstall it (`{lib_utils.rebuild_command()}`)"
    )
