"""`hpu cache export` and `import`: transfer of fitting recipes, and rejection of each kind of invalid bundle."""

from __future__ import annotations

import hashlib
import hmac
import json
import pathlib
import shutil
import types
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from habana_frameworks.tensorflow import recipe_store, version_getter
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.recipe_store import fitness
from habana_frameworks.tensorflow.recipe_store.directory import Entry
from tests.recipes.conftest import Warm, run_training
from tests.recipes.test_cache_command import as_json, entry_files, flip_a_byte, hpu_cache, hpu_cache_alone

SECRET = bytes(range(32))


@pytest.fixture
def key(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return path


@pytest.fixture
def bundle(several: Warm, key: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "recipes.bundle"
    done = as_json("export", path, "--key", key, "--path", several.cache)
    assert len(done["entries"]) == len(entry_files(several.cache)) and done["skipped"] == []
    return path


def members(bundle: pathlib.Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_bundle(bundle: pathlib.Path, files: dict[str, bytes], sign: bool = True) -> None:
    """Writes a bundle. With `sign`, the manifest and signature match its entries."""
    if sign:
        entries = [(name[8:72], data) for name, data in files.items() if name.startswith("entries/")]
        listed = [{"key": k, "bytes": len(d), "sha256": hashlib.sha256(d).hexdigest()} for k, d in entries]
        manifest = json.dumps({**json.loads(files["manifest.json"]), "entries": listed}).encode()
        signature = hmac.new(SECRET, manifest, hashlib.sha256).hexdigest().encode()
        files = {**files, "manifest.json": manifest, "signature": signature}
    with zipfile.ZipFile(bundle, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def test_round_trip(several: Warm, bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other = tmp_path / "other"
    done = as_json("import", bundle, "--key", key, "--path", other)
    assert done["refused"] == {} and done["conditions"] == {}
    assert {path.name: path.read_bytes() for path in other.iterdir()} == {
        path.name: path.read_bytes() for path in several.cache.iterdir()
    }
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in other.iterdir())
    second = run_training(other)
    assert (
        second["recipes"]["compiled"] == 0 < second["recipes"]["disk_hits"]
        and second["losses"] == several.first["losses"]
    )
    # Importing again in another process changes nothing.
    assert hpu_cache_alone("import", bundle, "--key", key, "--path", other).returncode == 0


def test_damaged_entries_are_not_exported(several: Warm, key: pathlib.Path, tmp_path: pathlib.Path) -> None:
    flip_a_byte(entry_files(several.cache)[0])
    done = as_json("export", tmp_path / "bundle", "--key", key, "--path", several.cache, code=1)
    assert [entry["problem"] for entry in done["skipped"]] == ["the checksum is wrong"]


def change_a_byte(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.startswith("entries/"))
    files[name] = files[name][:-40] + bytes([files[name][-40] ^ 1]) + files[name][-39:]


def cut_an_entry(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.startswith("entries/"))
    files[name] = files[name][:-1]


def swap_entries(files: dict[str, bytes]) -> None:
    first, second = [name for name in files if name.startswith("entries/")][:2]
    files[first], files[second] = files[second], files[first]


def of_another_format(files: dict[str, bytes]) -> None:
    files["manifest.json"] = json.dumps({**json.loads(files["manifest.json"]), "format": 2}).encode()


def put(name: str) -> Callable[[dict[str, bytes]], Any]:
    return lambda files: files.update({name: b"x"})


def drop(prefix: str) -> Callable[[dict[str, bytes]], Any]:
    return lambda files: files.pop(next(name for name in files if name.startswith(prefix)))


# Changes to the files of a valid bundle, whether it is signed again, and the expected reason.
REFUSED = {
    "changed entry": (change_a_byte, False, "was modified after signing"),
    "changed manifest": (of_another_format, False, "the signature does not match"),
    "other signature": (put("signature"), False, "the signature does not match"),
    "entry damaged before signing": (change_a_byte, True, "is damaged: the checksum is wrong"),
    "entry cut off before signing": (cut_an_entry, True, "is damaged: "),
    "entries under each other's name": (swap_entries, True, "does not match its key"),
    "other format": (of_another_format, True, "unsupported format version 2, expected 1"),
    "path above": (put("entries/../../x.recipe"), True, "a path outside the directory"),
    "absolute path": (put("/tmp/x.recipe"), True, "a path outside the directory"),
    "path above, written as on Windows": (put("entries\\..\\x.recipe"), True, "a path outside the directory"),
    "file of another kind": (put("entries/x.lock"), True, "contains an unexpected file"),
    "entry that is not listed": (put(f"entries/{'0' * 64}.recipe"), False, "not listed in the manifest"),
    "entry that is missing": (drop("entries/"), False, ".recipe is missing"),
    "no manifest": (drop("manifest"), False, "no manifest.json"),
    "no signature": (drop("signature"), False, "no signature"),
}


@pytest.mark.parametrize("change", REFUSED)
def test_bad_bundle_is_refused(change: str, bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path) -> None:
    spoil, sign, reason = REFUSED[change]
    files = members(bundle)
    spoil(files)
    write_bundle(bundle, files, sign)
    done = hpu_cache("import", bundle, "--key", key, "--path", tmp_path / "other")
    assert done.returncode == 2 and reason in done.stderr, done.stderr
    assert str(bundle) in done.stderr and not (tmp_path / "other").exists()


def test_bundle_that_is_not_a_zip_file_or_truncated(
    bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    data = bundle.read_bytes()
    for bad in (b"", b"no bundle", data[:100], data[:-10], data[: len(data) // 2]):
        bundle.write_bytes(bad)
        done = hpu_cache("import", bundle, "--key", key, "--path", tmp_path / "other")
        assert done.returncode == 2 and "not a bundle, or damaged" in done.stderr, done.stderr
    done = hpu_cache("import", tmp_path / "nowhere", "--key", key, "--path", tmp_path / "other")
    assert done.returncode == 2 and "No such file" in done.stderr


def test_no_damage_of_a_byte_is_more_than_a_refusal(
    several: Warm, bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    good = bundle.read_bytes()
    expected = {path.name: path.read_bytes() for path in entry_files(several.cache)}
    refused = 0
    # Covers headers and names of the zip file, which are between and after the compressed entries.
    for position in [*range(0, len(good) - 1000, 61), *range(len(good) - 1000, len(good), 5)]:
        bundle.write_bytes(good[:position] + bytes([good[position] ^ 0x41]) + good[position + 1 :])
        shutil.rmtree(tmp_path / "other", ignore_errors=True)
        try:
            recipe_store.import_bundle(tmp_path / "other", bundle, recipe_store.SigningKey(key))
        except recipe_store.BundleError:
            refused += 1
            assert not (tmp_path / "other").exists()
        else:  # a timestamp changed
            assert {path.name: path.read_bytes() for path in entry_files(tmp_path / "other")} == expected
    assert refused > 100


def test_bundle_that_is_too_large(bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path) -> None:
    files = members(bundle)
    files[f"entries/{'0' * 64}.recipe"] = bytes(2 << 20)
    write_bundle(bundle, files)
    done = hpu_cache("import", bundle, "--key", key, "--path", tmp_path / "other", "--max-mb", 1)
    assert done.returncode == 2 and "the bundle is too large" in done.stderr


def test_other_key(bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path) -> None:
    key.write_bytes(SECRET[::-1])
    done = hpu_cache("import", bundle, "--key", key, "--path", tmp_path / "other")
    assert done.returncode == 2 and "the signature does not match" in done.stderr


def test_key_file(bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def refusal(path: pathlib.Path) -> str:
        done = hpu_cache("import", bundle, "--key", path, "--path", tmp_path / "other")
        assert done.returncode == 2
        return done.stderr

    link = tmp_path / "link"
    link.symlink_to(key)
    assert "cannot be read" in refusal(link)
    assert "cannot be read" in refusal(tmp_path / "nowhere")
    assert "not a regular file" in refusal(tmp_path)
    key.chmod(0o640)
    assert f"chmod 600 {key}" in refusal(key)
    key.chmod(0o600)
    key.write_bytes(b"short")
    assert "at least 32" in refusal(key)


def test_other_version_is_refused_and_the_rest_taken(
    several: Warm, bundle: pathlib.Path, key: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    # Creates an entry of another backend.
    null = tmp_path / "null"
    run_training(null, {"HPU_BACKEND": "null"})
    foreign = entry_files(null)
    assert foreign
    mixed = tmp_path / "mixed"
    shutil.copytree(several.cache, mixed)
    for path in foreign:
        shutil.copy(path, mixed)
    assert hpu_cache("export", bundle, "--key", key, "--path", mixed).returncode == 0
    done = as_json("import", bundle, "--key", key, "--path", tmp_path / "other", code=1)
    assert set(done["refused"]) == {path.stem for path in foreign}
    assert all(reasons[0].startswith("compiled with backend null") for reasons in done["refused"].values())
    assert [path.name for path in entry_files(tmp_path / "other")] == [path.name for path in entry_files(several.cache)]


HERE = fitness.Installation(
    "0.1.0_a_tf2.15.1", "2.15.1", "emulator", "emulator 1; cpu zen +avx2,-fma; threads 2; effort 3; flags "
)


def entry(**changes: str) -> Entry:
    fields: dict[str, Any] = {**vars(HERE), **changes}
    return Entry("0" * 64, 1, 0, "", **fields)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"package_version": "0.2.0_b_tf2.15.1"}, "compiled with hpu-tensorflow 0.2.0_b_tf2.15.1, not 0.1.0"),
        ({"tensorflow_version": "2.16.0"}, "compiled with TensorFlow 2.16.0, not 2.15.1"),
        ({"backend": "null", "target": "null 1"}, "compiled with backend null, not emulator"),
        ({"target": HERE.target.replace("emulator 1", "emulator 2")}, "emulator: compiled for 2, not 1"),
        ({"target": HERE.target.replace("-fma", "+fma,+gfni")}, "cpu: this CPU lacks fma, gfni"),
        ({"target": HERE.target.replace("+avx2", "-avx2")}, "cpu: this CPU also has avx2"),
        ({"target": HERE.target.replace("zen", "skylake")}, "cpu: compiled for skylake, not zen"),
    ],
)
def test_mismatched_bundles_name_the_reason(changes: dict[str, str], reason: str) -> None:
    (found,) = fitness.misfits(entry(**changes), HERE)
    assert found.startswith(reason)


@pytest.mark.parametrize("backend", ["gaudi:/lib/libSynapse.so", "pjrt:cuda", "emulator"])
def test_recipes_fit_by_the_scheme_of_the_backend(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    info = types.SimpleNamespace(backend=backend, compiler_target="")
    monkeypatch.setattr(plugin_library, "handle", lambda: None)
    monkeypatch.setattr(c_api, "read_message", lambda *_: info)
    monkeypatch.setattr(version_getter, "get_library_version", lambda: HERE.package_version)
    here = fitness.Installation.here()
    assert here.backend == backend.split(":")[0] and here.tensorflow_version == HERE.tensorflow_version
    assert fitness.misfits(entry(backend=here.backend), here) == ()


def test_settings_are_conditions() -> None:
    other = entry(target=HERE.target.replace("threads 2; effort 3; flags ", "threads 8; effort 1; flags --x"))
    assert fitness.misfits(other, HERE) == ()
    assert fitness.conditions(other, HERE) == ("HPU_EMULATOR_THREADS=8", "HPU_COMPILE_EFFORT=1", "XLA_FLAGS=--x")
    assert fitness.misfits(entry(), HERE) == fitness.conditions(entry(), HERE) == ()
