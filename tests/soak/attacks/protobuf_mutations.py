"""Random protobuf messages, and random mutations of messages of any type."""

from __future__ import annotations

import contextlib
import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    16,
    64,
    127,
    128,
    255,
    256,
    4096,
    65536,
    1 << 20,
    1 << 24,
    1 << 31,
    (1 << 31) - 1,
    1 << 32,
)
LARGE_NUMBERS = (
    1 << 40,
    1 << 47,
    1 << 48,
    (1 << 62) + 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    -(1 << 31),
    -(1 << 63),
)
_INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.TYPE_SINT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.TYPE_SFIXED32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.TYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.TYPE_FIXED32: (0, (1 << 32) - 1),
    FieldDescriptor.TYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.TYPE_SINT64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.TYPE_SFIXED64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.TYPE_UINT64: (0, (1 << 64) - 1),
    FieldDescriptor.TYPE_FIXED64: (0, (1 << 64) - 1),
}
_FLOATS = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE)
_MAX_DEPTH = 5
_MAX_ELEMENTS = 4
_DESCENT = 0.75
_MAX_ADDED_BYTES = 4096


def number(chance: random.Random) -> int:
    """Returns a random number, mostly a small number."""
    drawn = chance.random()
    if drawn < 0.5:
        return chance.choice(NUMBERS)
    return chance.choice(LARGE_NUMBERS) if drawn < 0.65 else chance.randrange(1 << chance.randint(1, 40))


def mutate(message: Any, chance: random.Random, words: tuple[str, ...] = ()) -> None:
    """Changes a field of the message or of a nested message. words: values for text fields."""
    while chance.random() < _DESCENT:
        below = [value for field, value in message.ListFields() if _is_message(field) and not _is_map(field)]
        if not below:
            break
        value = chance.choice(below)
        message = value if hasattr(value, "ListFields") else chance.choice(value)
    fields = list(message.DESCRIPTOR.fields)
    if not fields:
        return
    present = [field for field, _ in message.ListFields()]
    field = chance.choice(present) if present and chance.random() < 0.7 else chance.choice(fields)
    _change(message, field, chance, words)


def random_message(kind: Any, chance: random.Random, depth: int = 0) -> Any:
    """Returns a message of the class with some fields set."""
    message = kind()
    for field in message.DESCRIPTOR.fields:
        if chance.random() < 0.5 and not (_is_message(field) and depth >= _MAX_DEPTH):
            _change(message, field, chance, ())
    return message


def flip_bytes(data: bytes, chance: random.Random) -> bytes:
    """Changes, removes or adds some bytes."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(changed) + 1)
        drawn = chance.random()
        if drawn < 0.6 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif drawn < 0.8:
            del changed[at : at + chance.randint(1, 64)]
        else:
            changed[at:at] = chance.randbytes(chance.randint(1, 64))
    return bytes(changed)


def _change(message: Any, field: Any, chance: random.Random, words: tuple[str, ...]) -> None:
    if _is_map(field):
        _change_map(getattr(message, field.name), chance, words)
    elif field.label == FieldDescriptor.LABEL_REPEATED:
        _change_elements(getattr(message, field.name), field, chance, words)
    elif chance.random() < 0.1:
        message.ClearField(field.name)
    elif _is_message(field):
        value = getattr(message, field.name)
        value.SetInParent()
        if value.DESCRIPTOR.fields:
            _change(value, chance.choice(list(value.DESCRIPTOR.fields)), chance, words)
    else:
        setattr(message, field.name, _scalar(field, chance, words))


def _change_elements(elements: Any, field: Any, chance: random.Random, words: tuple[str, ...]) -> None:
    drawn = chance.random()
    if elements and drawn < 0.2:
        del elements[chance.randrange(len(elements))]
    elif elements and drawn < 0.4:
        element = chance.choice(elements)
        if _is_message(field):
            elements.add().CopyFrom(element)
        else:
            elements.append(element)
    elif _is_message(field):
        added = chance.choice(elements) if elements and drawn < 0.8 else elements.add()
        if added.DESCRIPTOR.fields:
            _change(added, chance.choice(list(added.DESCRIPTOR.fields)), chance, words)
    elif elements and drawn < 0.8:
        elements[chance.randrange(len(elements))] = _scalar(field, chance, words)
    else:
        elements.extend(_scalar(field, chance, words) for _ in range(chance.randint(1, _MAX_ELEMENTS)))


def _change_map(entries: Any, chance: random.Random, words: tuple[str, ...]) -> None:
    if entries and chance.random() < 0.3:
        entries.clear()
        return
    with contextlib.suppress(TypeError):  # a map with other types than text
        entries[_text(chance, words)] = _text(chance, words)


def _scalar(field: Any, chance: random.Random, words: tuple[str, ...]) -> Any:
    if field.type in _INTEGERS:
        least, most = _INTEGERS[field.type]
        value = number(chance)
        return value if least <= value <= most else value % (most + 1)
    if field.type in _FLOATS:
        return chance.choice((0.0, 1.0, -1.0, 1e30, float("inf"), float("nan"), chance.random()))
    if field.type == FieldDescriptor.TYPE_BOOL:
        return chance.random() < 0.5
    if field.type == FieldDescriptor.TYPE_ENUM:
        known = [value.number for value in field.enum_type.values]
        return chance.choice(known) if chance.random() < 0.9 else chance.choice((-1, 99, (1 << 31) - 1))
    if field.type == FieldDescriptor.TYPE_STRING:
        return _text(chance, words)
    return chance.randbytes(chance.choice((0, 1, 16, 17, 255, chance.randrange(_MAX_ADDED_BYTES))))


def _text(chance: random.Random, words: tuple[str, ...]) -> str:
    if words and chance.random() < 0.8:
        return chance.choice(words)
    return chance.choice(("", "x", "\0", "é" * 40, "%s%n", "{}", "x" * 5000, str(number(chance))))


def _is_message(field: Any) -> bool:
    return bool(field.type == FieldDescriptor.TYPE_MESSAGE)


def _is_map(field: Any) -> bool:
    return bool(_is_message(field) and field.message_type.GetOptions().map_entry)
