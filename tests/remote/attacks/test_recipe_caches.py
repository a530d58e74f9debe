"""Recipe caches with hostile contents: sparse entries of terabytes, and malformed manifests."""

from __future__ import annotations

import json
import os
import pathlib
import resource
import struct

import pytest

from habana_frameworks.tensorflow.recipe_store import bundle as bundles
from habana_frameworks.tensorflow.recipe_store.signing_key import SigningKey
from tests.recipes.conftest import Warm, first_run, run_training, several, several_run, warm
from tests.recipes.test_bundles import bundle, key, members, write_bundle
from tests.recipes.test_cache_command import entry_files, hpu_cache_alone

__all__ = ["bundle", "first_run", "key", "several", "several_run", "warm"]  # fixtures
SPARSE_BYTES = 1 << 43
HEADER_BYTES, CHECKSUM_BYTES, SIZES_AT = 40, 32, 16
MAX_RESIDENT_KIB = 4 << 20


@pytest.mark.parametrize("claims", [True, False])
def test_a_sparse_entry_is_set_aside(warm: Warm, claims: bool) -> None:
    """claims: the header contains the sparse file's size."""
    for path in entry_files(warm.cache):
        data = bytearray(path.read_bytes())
        if claims:
            payload = SPARSE_BYTES - HEADER_BYTES - CHECKSUM_BYTES
            struct.pack_into("<QQQ", data, SIZES_AT, 0, 0, payload)
        path.write_bytes(data[:HEADER_BYTES])
        os.truncate(path, SPARSE_BYTES)
    listed = hpu_cache_alone("ls", "--path", warm.cache)
    assert listed.returncode in (0, 1), listed.stderr
    assert "Traceback" not in listed.stderr
    again = run_training(warm.cache)
    assert again["losses"] == warm.first["losses"]
    assert again["recipes"]["compiled"] > 0
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < MAX_RESIDENT_KIB


def entry(**fields: object) -> str:
    whole = {"key": "0" * 64, "bytes": 1, "sha256": "0" * 64, **fields}
    return json.dumps({"format": 1, "made_by": "1", "entries": [whole]})


MANIFESTS = {
    "a list": "[]",
    "null": "null",
    "a number": "1",
    "nothing": "{}",
    "no JSON": "{",
    "not UTF-8": "\udcff",
    "deep": "[" * 100_000,
    "entries of text": json.dumps({"format": 1, "made_by": "1", "entries": "entries"}),
    "entries of numbers": json.dumps({"format": 1, "made_by": "1", "entries": [1, 2]}),
    "key above": entry(key="../../x"),
    "key of another type": entry(key=7),
    "negative size": entry(bytes=-1),
    "size of another type": entry(bytes="1"),
    "size of a fraction": entry(bytes=1.5),
    "huge size": entry(bytes=1 << 80),
    "infinite size": entry(bytes=float("inf")),
    "digest of another type": entry(sha256=None),
    "another field": entry(more=1),
}


@pytest.mark.parametrize("case", MANIFESTS)
@pytest.mark.parametrize("signed", [True, False])
def test_odd_manifests_are_refused(
    bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path, case: str, signed: bool
) -> None:
    files = members(bundle)
    manifest = files["manifest.json"] = MANIFESTS[case].encode(errors="surrogateescape")
    if signed:
        files["signature"] = SigningKey(key).sign(manifest).encode()
    write_bundle(bundle, files, sign=False)
    with pytest.raises(bundles.BundleError):
        bundles.import_bundle(tmp_path / "other", bundle, SigningKey(key))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("signature", [b"\xff\xfe" * 32, b"", b"\0" * 64, "é".encode() * 32])
def test_odd_signatures_are_refused(
    bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path, signature: bytes
) -> None:
    files = members(bundle)
    files["signature"] = signature
    write_bundle(bundle, files, sign=False)
    with pytest.raises(bundles.BundleError):
        bundles.import_bundle(tmp_path / "other", bundle, SigningKey(key))
