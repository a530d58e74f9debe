"""Pieces of the accelerator kit: tar.xz archives of bounded size that unpack independently."""

from __future__ import annotations

import dataclasses
import lzma
import pathlib
import tarfile
from collections.abc import Iterator, Sequence

from tools.accelerator.run import OFFSET, Piece, sha256_of

# Files are split into parts of this size, so that a piece can end within a large file.
_MAX_PART = 4 << 20
# LZMA's encoder buffers at most one chunk of 64 KiB; a part that cannot be compressed grows by less than 1 %.
_HELD_BACK = 128 << 10
MIN_LIMIT = 1 << 20


@dataclasses.dataclass(frozen=True)
class Entry:
    """A file of the kit."""

    name: str
    """Path in the kit."""
    source: pathlib.Path
    executable: bool = False


@dataclasses.dataclass(frozen=True)
class _Part:
    entry: Entry
    offset: int
    data: bytes
    is_whole: bool


class _Counter:
    """File of a piece. Compresses the data from tarfile, and counts the compressed bytes."""

    def __init__(self, path: pathlib.Path, preset: int) -> None:
        self._file = path.open("wb")
        filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": preset}]
        self._compressor = lzma.LZMACompressor(lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=filters)
        self.bytes = 0

    def write(self, data: bytes) -> int:
        self._put(self._compressor.compress(data))
        return len(data)

    def close(self) -> None:
        self._put(self._compressor.flush())
        self._file.close()

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self.bytes += len(data)


class _OpenPiece:
    """A piece that is being written."""

    def __init__(self, path: pathlib.Path, preset: int) -> None:
        self.path = path
        self._counter = _Counter(path, preset)
        self._archive = tarfile.open(fileobj=self._counter, mode="w|", format=tarfile.PAX_FORMAT)  # type: ignore[call-overload]  # noqa: SIM115
        self.is_empty = True

    def has_room(self, part_bytes: int, limit: int) -> bool:
        # Reserve: one record of 10 KiB that tarfile buffers, the headers of the part, and the end of the archive.
        return self._counter.bytes + part_bytes + part_bytes // 100 + _HELD_BACK + 4 * tarfile.RECORDSIZE <= limit

    def add(self, part: _Part) -> None:
        """Adds a part without times and owners, so that equal contents produce equal archives."""
        info = tarfile.TarInfo(part.entry.name)
        info.size = len(part.data)
        info.mode = 0o755 if part.entry.executable else 0o644
        if not part.is_whole:
            info.pax_headers = {OFFSET: str(part.offset)}
        self._archive.addfile(info, _Reader(part.data))  # type: ignore[arg-type]
        self.is_empty = False

    def close(self, optional: bool) -> Piece:
        self._archive.close()
        self._counter.close()
        return Piece(self.path.name, self.path.stat().st_size, sha256_of(self.path), optional)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    def read(self, size: int) -> bytes:
        taken, self._data = self._data[:size], self._data[size:]
        return bytes(taken)


def write(
    entries: Sequence[Entry], directory: pathlib.Path, group: str, limit: int, preset: int = 6, optional: bool = False
) -> list[Piece]:
    """Writes `directory`/`group`-NN.tar.xz, each of at most `limit` bytes. Equal entries produce equal bytes."""
    if limit < MIN_LIMIT:
        raise ValueError(f"pieces of {limit} bytes are too small: the minimum is {MIN_LIMIT} bytes (--piece-mb)")
    pieces: list[Piece] = []
    current: _OpenPiece | None = None
    for part in _parts(entries, min(_MAX_PART, limit // 2)):
        if current is not None and not current.has_room(len(part.data), limit):
            pieces.append(current.close(optional))
            current = None
        if current is None:
            current = _OpenPiece(directory / f"{group}-{len(pieces):02}.tar.xz", preset)
        current.add(part)
    if current is not None:
        pieces.append(current.close(optional))
    return pieces


def _parts(entries: Sequence[Entry], size: int) -> Iterator[_Part]:
    for entry in sorted(entries, key=_order):
        with entry.source.open("rb") as file:
            data = file.read(size)
            following = file.read(size)
            is_whole, offset = not following, 0
            while True:
                yield _Part(entry, offset, data, is_whole)
                if not following:
                    break
                offset += len(data)
                data, following = following, file.read(size)


def _order(entry: Entry) -> tuple[str, str]:
    """Sort key that groups files by suffix, which compresses better."""
    return pathlib.PurePosixPath(entry.name).suffix, entry.name
