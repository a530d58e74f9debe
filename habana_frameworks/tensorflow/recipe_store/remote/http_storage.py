"""Remote storage on an HTTP server: GET, HEAD and PUT of prefix/name, like the HTTP caches of ccache and Bazel."""

from __future__ import annotations

import contextlib
import http.client
import urllib.parse
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import BinaryIO

from habana_frameworks.tensorflow.recipe_store.remote.errors import (
    DeniedError,
    NotListableError,
    SkippedError,
    StorageError,
)
from habana_frameworks.tensorflow.recipe_store.remote.storage import Storage, check_size, copy

_MISSING = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
# A connection is reused only if at most this many bytes of the response are left to read.
_MAX_ERROR_BYTES = 1 << 16
_UNKNOWN_NAME = "0" * 64


class HttpStorage(Storage):
    """Storage on an HTTP server. Keeps one connection open; does not follow redirects."""

    def __init__(self, url: str, timeout: float, token: str = "") -> None:
        """Does not connect before the first request. `timeout` applies to each read and write, in seconds."""
        self._url = url
        self._parts = urllib.parse.urlsplit(url)
        self._timeout = timeout
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connection: http.client.HTTPConnection | None = None

    def get(self, name: str, max_bytes: int, out: BinaryIO) -> bool:
        with self._request("GET", name) as response:
            if response.status in _MISSING:
                return False
            if response.status != HTTPStatus.OK:
                raise self._error("GET", name, response)
            expected = response.length
            check_size(expected or 0, max_bytes)
            done = copy(response, out, max_bytes)
            if expected is not None and done != expected:
                raise StorageError(f"{self._url} closed the connection after {done} of {expected} bytes; try again")
            return True

    def put(self, name: str, size: int, chunks: Callable[[], Iterator[bytes]]) -> None:
        with self._request("PUT", name, size, chunks) as response:
            if response.status in (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT):
                return
            error = self._error("PUT", name, response)
            if response.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                raise SkippedError(f"{error}; the server limits the size of uploads (nginx: client_max_body_size)")
            if response.status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS) or response.status >= 500:
                raise error
            raise DeniedError(str(error))

    def has(self, name: str) -> bool:
        with self._request("HEAD", name) as response:
            if response.status == HTTPStatus.OK:
                return True
            if response.status in _MISSING:
                return False
            raise self._error("HEAD", name, response)

    def names(self) -> list[str]:
        raise NotListableError(
            f"cannot list the recipes at {self._url}: HTTP storage does not support listing; name the recipes to fetch "
            "(hpu cache remote pull KEY ...)"
        )

    def check(self) -> None:
        self.has(_UNKNOWN_NAME)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def _request(
        self, method: str, name: str, size: int = 0, chunks: Callable[[], Iterator[bytes]] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """Sends a request and yields the response. Keeps the connection if the body was read to its end."""
        kept = False
        try:
            response = self._send(method, name, size, chunks)
            yield response
            response.read(_MAX_ERROR_BYTES)
            kept = response.isclosed()
        except (OSError, http.client.HTTPException, ValueError) as error:
            # ValueError: malformed host name or status line.
            raise StorageError(f"{method} {self._url} failed: {str(error) or type(error).__name__}") from error
        finally:
            if not kept:
                self.close()

    def _send(
        self, method: str, name: str, size: int, chunks: Callable[[], Iterator[bytes]] | None
    ) -> http.client.HTTPResponse:
        if self._connection is not None:
            # The server may have closed the connection since the last request.
            with contextlib.suppress(ConnectionError):
                return self._exchange(self._connection, method, name, size, chunks)
            self.close()
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = kind(self._parts.hostname or "", self._parts.port, timeout=self._timeout)
        return self._exchange(self._connection, method, name, size, chunks)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        name: str,
        size: int,
        chunks: Callable[[], Iterator[bytes]] | None,
    ) -> http.client.HTTPResponse:
        path = f"{self._parts.path.rstrip('/')}/{name}"
        if chunks is None:
            connection.request(method, path, headers=self._headers)
            return connection.getresponse()
        headers = {**self._headers, "Content-Length": str(size), "Content-Type": "application/octet-stream"}
        try:
            connection.request(method, path, chunks(), headers)
        except ConnectionError:
            if connection.sock is None:
                raise
            # A server that rejects the upload may answer and close the connection before it has read the body.
        return connection.getresponse()

    def _error(self, method: str, name: str, response: http.client.HTTPResponse) -> StorageError:
        return StorageError(f"{method} {self._url}/{name} answered {response.status} {response.reason}")
