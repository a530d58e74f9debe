"""Format of the objects in a remote storage: the team's signature, followed by an entry.

offset  size  field
0       8     magic "HPUSIGND"
8       4     version of the format, little-endian
12      4     reserved, 0
16      32    HMAC-SHA256 of the context, the version, the key and the entry
48            the entry (plugin/recipes/entry.h)
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterator
from typing import BinaryIO

from habana_frameworks.tensorflow.recipe_store.remote.errors import RefusedError
from habana_frameworks.tensorflow.recipe_store.remote.storage import CHUNK_BYTES
from habana_frameworks.tensorflow.recipe_store.signing_key import SigningKey

MAX_ENTRY_BYTES = 2 << 30
"""Same limit as in plugin/recipes/entry.h."""
_HEADER = struct.Struct("<8sII32s")
HEADER_BYTES = _HEADER.size
_MAGIC, _VERSION = b"HPUSIGND", 1
# Domain separation: a signature for a bundle, made with the same secret, is not valid here.
_CONTEXT = b"hpu-tensorflow remote recipe\0"
_REPLACE = "replace it with hpu cache remote push --overwrite"


def header(entry: BinaryIO, name: str, key: SigningKey) -> bytes:
    """Returns the object's header. Reads `entry` to its end."""
    return _HEADER.pack(_MAGIC, _VERSION, 0, _signature(entry, name, key))


def verify(signed: BinaryIO, name: str, key: SigningKey) -> None:
    """Verifies an object and seeks to the start of its entry. Raises RefusedError unless it is signed for `name`."""
    signed.seek(0)
    data = signed.read(HEADER_BYTES)
    if len(data) < HEADER_BYTES:
        raise RefusedError(f"the object has no signature; {_REPLACE}")
    magic, version, reserved, signature = _HEADER.unpack(data)
    if magic != _MAGIC:
        raise RefusedError(f"the object has no signature; {_REPLACE}")
    if version != _VERSION:
        raise RefusedError(
            f"the signature has format {version}, but this release supports only format {_VERSION}; {_REPLACE}"
        )
    if reserved != 0:
        raise RefusedError(f"the header is damaged: the reserved field is {reserved}, expected 0; {_REPLACE}")
    if not hmac.compare_digest(_signature(signed, name, key), signature):
        raise RefusedError(
            "the signature does not match: another key signed the entry, or the entry was modified; correct "
            f"HPU_RECIPE_CACHE_REMOTE_KEY_FILE, or {_REPLACE}"
        )
    signed.seek(HEADER_BYTES)


def chunks(file: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of the file in chunks."""
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _signature(entry: BinaryIO, name: str, key: SigningKey) -> bytes:
    code = key.code()
    code.update(_CONTEXT + struct.pack("<I", _VERSION) + name.encode())
    for chunk in chunks(entry):
        code.update(chunk)
    return code.digest()
