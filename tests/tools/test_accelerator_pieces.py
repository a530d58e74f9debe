"""Pieces of the accelerator kit: sizes, reproducible bytes, verification, arrival one by one."""

from __future__ import annotations

import json
import pathlib
import random
import shutil

import pytest

from tools.accelerator import pieces, run
from tools.accelerator.pieces import Entry

LIMIT = pieces.MIN_LIMIT


@pytest.fixture
def entries(tmp_path: pathlib.Path) -> list[Entry]:
    """Files for several pieces: one larger than a piece, one empty, one program."""
    folder = tmp_path / "source"
    folder.mkdir()
    contents = {
        "large": random.Random(0).randbytes(3 * LIMIT),
        "empty": b"",
        "program": b"#!/bin/sh\n",
        "text": b"x" * 9999,
    }
    found = []
    for name, data in contents.items():
        (folder / name).write_bytes(data)
        found.append(Entry(f"folder/{name}", folder / name, executable=name == "program"))
    return found


def write(entries: list[Entry], folder: pathlib.Path) -> tuple[run.Piece, ...]:
    """Writes the pieces, an optional piece, and the manifest."""
    folder.mkdir()
    written = pieces.write(entries, folder, "base", LIMIT, preset=0)
    written += pieces.write(entries[:1], folder, "extra", 4 * LIMIT, preset=0, optional=True)
    (folder / run.MANIFEST).write_text(run.Manifest(tuple(written), {}).as_json())
    return tuple(written)


def test_pieces_are_small_and_restore_the_files(entries: list[Entry], tmp_path: pathlib.Path) -> None:
    written = write(entries, tmp_path / "pieces")
    needed = [piece for piece in written if not piece.optional]
    assert len(needed) >= 4 and all(piece.bytes <= LIMIT for piece in needed)
    result = run.unpack(tmp_path / "pieces", tmp_path / "kit")
    assert result.exit_code == run.GOOD and len(result.added) == len(written)
    for entry in entries:
        path = tmp_path / "kit" / entry.name
        assert path.read_bytes() == entry.source.read_bytes()
        assert bool(path.stat().st_mode & 0o100) == entry.executable


def test_equal_files_give_equal_pieces(entries: list[Entry], tmp_path: pathlib.Path) -> None:
    first = write(entries, tmp_path / "first")
    for entry in entries:
        entry.source.touch()
    assert write(entries[::-1], tmp_path / "second")[:-1] == first[:-1]


def test_pieces_may_arrive_one_by_one(entries: list[Entry], tmp_path: pathlib.Path) -> None:
    written = write(entries, tmp_path / "all")
    names = [piece.name for piece in written if not piece.optional]
    arrived = tmp_path / "arrived"
    arrived.mkdir()
    shutil.copy(tmp_path / "all" / run.MANIFEST, arrived)
    for count, name in enumerate(reversed(names), 1):
        shutil.copy(tmp_path / "all" / name, arrived)
        result = run.unpack(arrived, tmp_path / "kit")
        assert result.added == [name] and result.missing == names[: len(names) - count]
    assert result.exit_code == run.GOOD
    assert (tmp_path / "kit" / "folder" / "large").read_bytes() == entries[0].source.read_bytes()
    assert run.unpack(arrived, tmp_path / "kit").added == []


@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damaged_pieces_are_refused(
    entries: list[Entry], tmp_path: pathlib.Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pieces"
    name = write(entries, folder)[1].name
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data if damage == "flip" else data[:-1])
    assert run.main(["unpack", "--pieces", str(folder), "--kit", str(tmp_path / "kit")]) == run.FAILED
    message = capsys.readouterr().err
    assert f"{name}: damaged: " in message and "copy it again" in message
    assert name not in json.loads((tmp_path / "kit" / "unpacked.json").read_text())


def test_missing_pieces_are_named(
    entries: list[Entry], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pieces"
    name = write(entries, folder)[0].name
    (folder / name).unlink()
    arguments = ["--pieces", str(folder), "--kit", str(tmp_path / "kit")]
    assert run.main(["unpack", *arguments]) == run.INCOMPLETE
    assert f"missing: {name}\n" in capsys.readouterr().err
    assert run.main(["check", *arguments]) == run.INCOMPLETE


def test_pieces_of_another_kit_are_refused(entries: list[Entry], tmp_path: pathlib.Path) -> None:
    write(entries, tmp_path / "first")
    entries[0].source.write_bytes(b"other")
    write(entries, tmp_path / "second")
    run.unpack(tmp_path / "first", tmp_path / "kit")
    with pytest.raises(run.KitError, match="another kit"):
        run.unpack(tmp_path / "second", tmp_path / "kit")


def test_wrong_usage_is_reported(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["unpack", "--pieces", str(tmp_path)]) == run.USAGE
    assert "no manifest at" in capsys.readouterr().err
    with pytest.raises(ValueError, match="too small"):
        pieces.write([], tmp_path, "base", LIMIT - 1)
