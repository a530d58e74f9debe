"""tools/palette.py: pictures with few colours."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt
import pytest

from tools import palette

Pixels = npt.NDArray[np.uint8]


def filtered(pixels: Pixels) -> bytes:
    """Returns the lines of a picture with PNG's filters 0 to 4 in turn, from the definition in its specification."""
    height, width, channels = pixels.shape
    data = b""
    for y in range(height):
        line = bytearray([y % 5])
        for x in range(width):
            for c in range(channels):
                a = int(pixels[y, x - 1, c]) if x else 0
                b = int(pixels[y - 1, x, c]) if y else 0
                corner = int(pixels[y - 1, x - 1, c]) if x and y else 0
                distances = {a: abs(b - corner), b: abs(a - corner), corner: abs(a + b - 2 * corner)}
                paeth = next(value for value in (a, b, corner) if distances[value] == min(distances.values()))
                predicted = (0, a, b, (a + b) // 2, paeth)[y % 5]
                line.append((int(pixels[y, x, c]) - predicted) % 256)
        data += bytes(line)
    return data


def png(pixels: Pixels) -> bytes:
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(filtered(pixels))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def decode_indexed(picture: bytes) -> Pixels:
    chunks = dict(palette._chunks(picture))
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + width)
    return np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)[lines[:, 1:]]


@pytest.mark.parametrize("channels", [3, 4])
def test_a_picture_of_few_colours_is_unchanged(channels: int) -> None:
    generator = np.random.default_rng(1)
    colours = generator.integers(0, 256, [20, channels], np.uint8)
    pixels = colours[generator.integers(0, 20, [12, 9])]
    np.testing.assert_array_equal(decode_indexed(palette.reduce(png(pixels))), pixels[:, :, :3])


def test_a_rare_colour_is_kept() -> None:
    grey = np.random.default_rng(1).integers(100, 200, [40, 40, 1], np.uint8)
    pixels = np.repeat(grey, 3, axis=2)
    pixels[3, 4] = [255, 0, 0]
    reduced = decode_indexed(palette.reduce(png(pixels)))
    assert reduced[3, 4].tolist() == [255, 0, 0]
    assert len(np.unique(reduced.reshape(-1, 3), axis=0)) == 32
    assert np.abs(reduced.astype(int) - pixels).max() < 8


def test_other_pictures_are_refused() -> None:
    with pytest.raises(ValueError, match="not an 8-bit RGB or RGBA picture"):
        palette.reduce(b"GIF89a")
