"""RemoteCache: signed entries in a remote storage."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import tempfile
import urllib.parse
from collections.abc import Iterator
from typing import BinaryIO, cast

from habana_frameworks.tensorflow._internal import secret_files
from habana_frameworks.tensorflow.recipe_store.remote import signed_object
from habana_frameworks.tensorflow.recipe_store.remote.directory_storage import DirectoryStorage
from habana_frameworks.tensorflow.recipe_store.remote.errors import SettingsError, SkippedError
from habana_frameworks.tensorflow.recipe_store.remote.http_storage import HttpStorage
from habana_frameworks.tensorflow.recipe_store.remote.settings import RemoteSettings
from habana_frameworks.tensorflow.recipe_store.remote.storage import Storage, check_size
from habana_frameworks.tensorflow.recipe_store.signing_key import SigningKey

_KEY = re.compile(r"[0-9a-f]{64}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# A larger download is kept in a temporary file.
_MAX_BYTES_IN_MEMORY = 64 << 20
_MIN_TOKEN_BYTES = 1


class RemoteCache:
    """Client of the remote recipe cache. Not thread safe. Methods raise subclasses of RemoteError."""

    def __init__(self, settings: RemoteSettings) -> None:
        """Reads the key and the token. Does not contact the storage. Raises SettingsError for unusable settings."""
        if not settings.key_file:
            raise SettingsError(
                "HPU_RECIPE_CACHE_REMOTE_KEY_FILE is not set, but recipes must be signed: set it to the file with the "
                "team's secret"
            )
        try:
            self._key = SigningKey(settings.key_file)
            self._storage = open_storage(settings)
        except secret_files.KeyFileError as error:
            raise SettingsError(str(error)) from error

    def fetch(self, name: str) -> BinaryIO | None:
        """Fetches an entry and verifies its signature. Returns None if the storage lacks the entry."""
        with contextlib.ExitStack() as unless_verified:
            out = cast(BinaryIO, unless_verified.enter_context(tempfile.SpooledTemporaryFile(_MAX_BYTES_IN_MEMORY)))
            if not self._storage.get(name, signed_object.HEADER_BYTES + signed_object.MAX_ENTRY_BYTES, out):
                return None
            signed_object.verify(out, name, self._key)
            unless_verified.pop_all()
            return out

    def upload(self, name: str, path: str | os.PathLike[str]) -> None:
        """Signs and uploads the entry in the file `path`. For a missing file, raises SkippedError without text."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            raise SkippedError("") from None
        except OSError as error:
            raise SkippedError(f"{os.fspath(path)} cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            check_size(size, signed_object.MAX_ENTRY_BYTES)
            header = signed_object.header(file, name, self._key)

            def chunks() -> Iterator[bytes]:
                yield header
                file.seek(0)
                yield from signed_object.chunks(file)

            self._storage.put(name, len(header) + size, chunks)

    def has(self, name: str) -> bool:
        """Whether the storage has an object with this key. Does not verify the object."""
        return self._storage.has(name)

    def keys(self) -> list[str]:
        """Returns the keys of all objects. Raises NotListableError if the storage cannot list them."""
        return sorted(name for name in self._storage.names() if _KEY.fullmatch(name))

    def check(self) -> None:
        """Raises StorageError if the storage cannot be reached."""
        self._storage.check()

    def close(self) -> None:
        """Closes the connection, if any."""
        self._storage.close()


def open_storage(settings: RemoteSettings) -> Storage:
    """Opens the storage at the URL. Raises SettingsError for an invalid URL or token.

    Raises secret_files.KeyFileError if the token file cannot be used.
    """
    url = settings.url
    try:
        parts = urllib.parse.urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError as error:
        raise SettingsError(f"not a URL: {url} ({error}); correct HPU_RECIPE_CACHE_REMOTE") from error
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and len(parts.path) > 1:
        return DirectoryStorage(pathlib.Path(urllib.parse.unquote(parts.path)))
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_valid:
        raise SettingsError(f"not a storage URL: {url}; use file:///directory, http://host:port/prefix or https://…")
    if parts.username is not None or parts.query or parts.fragment:
        raise SettingsError(
            f"{parts.scheme}://{parts.hostname}: the URL must not have a user, query or fragment; set a token in "
            "HPU_RECIPE_CACHE_REMOTE_TOKEN_FILE"
        )
    token = _token(settings.token_file)
    if token and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise SettingsError(f"the token would be sent unencrypted to {url}: use https:// in HPU_RECIPE_CACHE_REMOTE")
    return HttpStorage(url, settings.timeout, token)


def _token(path: str) -> str:
    if not path:
        return ""
    token = secret_files.read(path, "token", _MIN_TOKEN_BYTES).decode("ascii", errors="replace").strip()
    if not token.isascii() or not token.isprintable():
        raise SettingsError(
            f"the token file {path} contains characters that are not printable ASCII: create a new token"
        )
    return token
