"""Bundle: one signed file with recipe entries, for transfer to another machine.

A bundle is a zip file of manifest.json (entries with size and SHA-256), signature (HMAC-SHA256 of manifest.json, in
hexadecimal digits), entries/KEY.recipe, and entries/KEY.notes for notes about clusters. Before the signature is
verified, only the zip directory, manifest.json and signature are read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from habana_frameworks.tensorflow import version_getter
from habana_frameworks.tensorflow.recipe_store import _plugin, directory
from habana_frameworks.tensorflow.recipe_store.directory import Entry, Listing
from habana_frameworks.tensorflow.recipe_store.fitness import Installation, conditions, misfits
from habana_frameworks.tensorflow.recipe_store.signing_key import SigningKey

FORMAT = 1
MAX_BYTES = 4 << 30
_MANIFEST, _SIGNATURE = "manifest.json", "signature"
_MAX_MANIFEST_BYTES, _MAX_SIGNATURE_BYTES = 16 << 20, 64
_ENCRYPTED = 1  # flag bit of a file in a zip archive
_ENTRY = re.compile(r"entries/([0-9a-f]{64})\.(recipe|notes)")


class BundleError(ValueError):
    """The bundle is refused, and no entry was imported. The message contains the reason."""


@dataclasses.dataclass(frozen=True)
class Exported:
    """Result of export_bundle()."""

    entries: tuple[Entry, ...]
    skipped: tuple[Entry, ...]
    """Entries left out because of a problem."""


@dataclasses.dataclass(frozen=True)
class Imported:
    """Result of import_bundle()."""

    entries: tuple[Entry, ...]
    refused: dict[str, tuple[str, ...]]
    """Per key, the reasons why no program can load the entry here."""
    conditions: dict[str, tuple[str, ...]]
    """Per key, the settings with which a program finds the entry."""


@dataclasses.dataclass(frozen=True)
class _Item:
    key: str
    """Key of a recipe, or name of notes (directory.Listing)."""
    bytes: int
    sha256: str

    @property
    def is_notes(self) -> bool:
        return self.key.endswith(directory.NOTES_SUFFIX)

    @property
    def member(self) -> str:
        """Name of the file in the bundle."""
        return f"entries/{self.key}" if self.is_notes else f"entries/{self.key}.recipe"


def export_bundle(path: str | os.PathLike[str], bundle: str | os.PathLike[str], key: SigningKey) -> Exported:
    """Writes all sound entries of the directory `path` to the file `bundle`, atomically.

    Raises StoreError if the directory cannot be read, OSError if the file cannot be written.
    """
    listing = directory.list_entries(path)
    target = pathlib.Path(bundle)
    descriptor, temporary = tempfile.mkstemp(dir=target.absolute().parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            exported = _write(file, path, listing, key)
            file.flush()
            os.fsync(descriptor)
        pathlib.Path(temporary).replace(target)
    except BaseException:
        pathlib.Path(temporary).unlink()
        raise
    return exported


def _add(archive: zipfile.ZipFile, path: str | os.PathLike[str], name: str) -> _Item:
    """Adds an entry of the directory `path`. Raises StoreError if it cannot be read."""
    data = directory.read(path, name)
    item = _Item(name, len(data), hashlib.sha256(data).hexdigest())
    archive.writestr(item.member, data)
    return item


def _write(file: BinaryIO, path: str | os.PathLike[str], listing: Listing, key: SigningKey) -> Exported:
    items, exported, skipped = [], [], [entry for entry in listing.entries if entry.problem]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in listing.sound:
            try:
                items.append(_add(archive, path, entry.key))
            except _plugin.StoreError as error:  # removed or damaged since the listing
                skipped.append(dataclasses.replace(entry, problem=str(error)))
                continue
            exported.append(entry)
        for name in listing.notes:
            with contextlib.suppress(_plugin.StoreError):  # damaged notes are ignored, as by programs
                items.append(_add(archive, path, name))
        manifest = {
            "format": FORMAT,
            "made_by": version_getter.get_library_version(),
            "entries": list(map(dataclasses.asdict, items)),
        }
        text = json.dumps(manifest, indent=1).encode()
        archive.writestr(_MANIFEST, text)
        archive.writestr(_SIGNATURE, key.sign(text))
    return Exported(tuple(exported), tuple(skipped))


def import_bundle(
    path: str | os.PathLike[str], bundle: str | os.PathLike[str], key: SigningKey, max_bytes: int = MAX_BYTES
) -> Imported:
    """Imports the entries of a bundle that fit this installation into the directory `path`, each atomically.

    Checks the whole bundle before writing the first entry. Raises BundleError if the bundle is invalid, StoreError if
    the directory cannot be written.
    """
    try:
        with zipfile.ZipFile(bundle) as archive:
            return _import(archive, path, key, max_bytes)
    except BundleError as error:
        raise BundleError(f"cannot import {os.fspath(bundle)}: {error}") from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise BundleError(
            f"cannot import {os.fspath(bundle)}: not a bundle, or damaged: {error}; export it again"
        ) from error
    except OSError as error:
        raise BundleError(f"cannot import {os.fspath(bundle)}: {error.strerror or error}") from error


def _import(archive: zipfile.ZipFile, path: str | os.PathLike[str], key: SigningKey, max_bytes: int) -> Imported:
    members = _members(archive, max_bytes)
    items = _manifest(archive, members, key)
    here = Installation.here()
    fitting, refused, needed = [], {}, {}
    for item, data in _entries(archive, members, items):
        try:
            entry = directory.inspect(item.key, data)
        except _plugin.StoreError as error:
            raise BundleError(f"entry {item.key} is damaged: {error}; export the bundle again") from error
        reasons = misfits(entry, here)
        if reasons:
            refused.update({} if item.is_notes else {entry.key: reasons})
            continue
        fitting.append((item, entry))
        if conditions(entry, here) and not item.is_notes:
            needed[entry.key] = conditions(entry, here)
    # Reads the entries a second time, because all of them may not fit into memory.
    for item, data in _entries(archive, members, [item for item, _ in fitting]):
        directory.write(path, item.key, data)
    return Imported(tuple(entry for item, entry in fitting if not item.is_notes), refused, needed)


def _members(archive: zipfile.ZipFile, max_bytes: int) -> dict[str, zipfile.ZipInfo]:
    """Checks names, sizes and compression of the files and returns them by name. Does not read their contents."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename
        if name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name):
            raise BundleError(f"the bundle contains a path outside the directory: {name!r}; export the bundle again")
        if name not in (_MANIFEST, _SIGNATURE) and not _ENTRY.fullmatch(name):
            raise BundleError(f"the bundle contains an unexpected file: {name!r}; export the bundle again")
        if name in members:
            raise BundleError(f"the bundle contains {name} twice; export the bundle again")
        if info.flag_bits & _ENCRYPTED:
            raise BundleError(f"{name} is encrypted; export the bundle again")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BundleError(
                f"{name} uses compression method {info.compress_type}, not stored or deflated; export the bundle again"
            )
        members[name] = info
    for name, limit in ((_MANIFEST, _MAX_MANIFEST_BYTES), (_SIGNATURE, _MAX_SIGNATURE_BYTES)):
        if name not in members:
            raise BundleError(f"not a bundle: the file contains no {name}; pass a file from hpu cache export")
        if members[name].file_size > limit:
            raise BundleError(
                f"{name} is too large: {members[name].file_size} bytes, limit {limit}; export the bundle again"
            )
    total = sum(info.file_size for info in members.values())
    if total > max_bytes:
        raise BundleError(
            f"the bundle is too large: {total} bytes, limit {max_bytes}; raise the limit with hpu cache import --max-mb"
        )
    return members


def _manifest(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], key: SigningKey) -> list[_Item]:
    """Verifies the manifest's signature and returns the entries that it lists."""
    text = _read(archive, members[_MANIFEST])
    signature = _read(archive, members[_SIGNATURE]).decode("ascii", errors="replace")
    if not key.verifies(text, signature):
        raise BundleError(
            "the signature does not match: another key signed the bundle, or the bundle was modified; pass --key the "
            "file that hpu cache export used"
        )
    items = _items(text)
    listed, there = {item.member for item in items}, set(members) - {_MANIFEST, _SIGNATURE}
    if listed != there:
        name = min(listed ^ there)
        problem = "missing from the bundle" if name in listed else "not listed in the manifest"
        raise BundleError(f"{name} is {problem}; export the bundle again")
    return items


def _items(text: bytes) -> list[_Item]:
    """Parses a manifest. Raises BundleError if the text is not a manifest of this format."""
    try:
        manifest: dict[str, Any] = json.loads(text)
        version, entries = manifest["format"], manifest["entries"]
        if version != FORMAT:
            raise BundleError(
                f"unsupported format version {version!r}, expected {FORMAT}; export the bundle again with this release"
            )
        items = [_Item(**item) for item in entries]
        whole = all(
            isinstance(item.key, str) and isinstance(item.bytes, int) and _ENTRY.fullmatch(item.member)
            for item in items
        )
    except BundleError:
        raise
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise BundleError(f"{_MANIFEST} is malformed: {reason}; export the bundle again") from error
    if not whole:
        raise BundleError(f"{_MANIFEST} is malformed: an entry has an invalid key or size; export the bundle again")
    return items


def _entries(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], items: list[_Item]
) -> Iterator[tuple[_Item, bytes]]:
    for item in items:
        data = _read(archive, members[item.member])
        if len(data) != item.bytes or hashlib.sha256(data).hexdigest() != item.sha256:
            raise BundleError(
                f"entry {item.key} was modified after signing: its size or SHA-256 differs from the manifest; "
                "export the bundle again"
            )
        yield item, data


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Reads a whole file, but never more than its checked size. Raises BundleError if the size is wrong."""
    with archive.open(info) as file:
        data = file.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise BundleError(
            f"{info.filename} has a wrong size: expected {info.file_size} bytes, read {len(data)}; "
            "export the bundle again"
        )
    return data
