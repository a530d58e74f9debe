"""Reduces a PNG picture to few colours, which makes screenshots several times smaller."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = 32
# Colour types of PNG, with their bytes per pixel.
_RGB, _INDEXED, _RGBA = 2, 3, 6
_CHANNELS = {_RGB: 3, _RGBA: 4}


def reduce(picture: bytes) -> bytes:
    """Returns the picture with at most _COLOURS colours. Raises ValueError unless it is 8-bit RGB or RGBA.

    Other colours become the nearest of these. Transparency is dropped.
    """
    pixels = _decode(picture)
    height, width, _ = pixels.shape
    flat = pixels.reshape(-1, 3).astype(np.int64)
    codes = flat[:, 0] << 16 | flat[:, 1] << 8 | flat[:, 2]
    colours, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    chosen, nearest = _choose(_channels(colours), counts)
    return _encode(nearest[inverse].reshape(height, width), chosen)


def _choose(colours: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> tuple[Pixels, Pixels]:
    """Returns the palette, and the palette index nearest to each of `colours`.

    Chooses the most frequent colour first, then repeatedly the colour with the largest total error so far. This keeps a
    rare colour that is unlike all others.
    """
    chosen = [int(np.argmax(counts))]
    distances = ((colours - colours[chosen[0]]) ** 2).sum(axis=1)
    nearest = np.zeros(len(colours), np.uint8)
    while len(chosen) < min(_COLOURS, len(colours)):
        chosen.append(int(np.argmax(distances * counts)))
        others = ((colours - colours[chosen[-1]]) ** 2).sum(axis=1)
        nearest[others < distances] = len(chosen) - 1
        distances = np.minimum(distances, others)
    return colours[chosen].astype(np.uint8), nearest


def _channels(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1)


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    offset = len(_SIGNATURE)
    while offset < len(picture):
        length, kind = struct.unpack_from(">I4s", picture, offset)
        yield kind, picture[offset + 8 : offset + 8 + length]
        offset += 12 + length


def _decode(picture: bytes) -> Pixels:
    """Returns the colours as an array of height, width, 3."""
    chunks = list(_chunks(picture))
    header = next((data for kind, data in chunks if kind == b"IHDR"), b"\0" * 13)
    width, height, depth, colour_type, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if not picture.startswith(_SIGNATURE) or depth != 8 or colour_type not in _CHANNELS or interlaced:
        raise ValueError(f"not an 8-bit RGB or RGBA picture without interlacing: depth {depth}, type {colour_type}")
    channels = _CHANNELS[colour_type]
    data = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    lines = np.frombuffer(data, np.uint8).reshape(height, 1 + width * channels)
    before = np.zeros([width, channels], np.uint8)
    rows = []
    for line in lines:
        before = _unfiltered(int(line[0]), line[1:].reshape(width, channels), before)
        rows.append(before)
    return np.stack(rows)[:, :, :3]


def _unfiltered(kind: int, line: Pixels, above: Pixels) -> Pixels:
    """Undoes one of PNG's filters: none, sub, up, average, Paeth. Bytes are computed modulo 256."""
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line, axis=0, dtype=np.uint8)
    if kind == 2:
        return line + above
    row = line.astype(np.int64)
    upper = above.astype(np.int64)
    left = upper_left = np.zeros(row.shape[1], np.int64)
    for x in range(len(row)):
        predicted = (left + upper[x]) // 2 if kind == 3 else _paeth(left, upper[x], upper_left)
        left = row[x] = (row[x] + predicted) & 255
        upper_left = upper[x]
    return row.astype(np.uint8)


def _paeth(
    left: npt.NDArray[np.int64], up: npt.NDArray[np.int64], corner: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    estimate = left + up - corner
    distances = np.abs(np.stack([estimate - left, estimate - up, estimate - corner]))
    return np.choose(np.argmin(distances, axis=0), [left, up, corner])


def _encode(indices: Pixels, colours: Pixels) -> bytes:
    height, width = indices.shape
    data = b"".join(b"\0" + row.tobytes() for row in indices)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, _INDEXED, 0, 0, 0)),
        (b"PLTE", colours.tobytes()),
        (b"IDAT", zlib.compress(data, 9)),
        (b"IEND", b""),
    ]
    encoded = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return _SIGNATURE + b"".join(encoded)
