"""Access control: permitted listen addresses and client tokens."""

from __future__ import annotations

import hmac
import ipaddress

from habana_frameworks.tensorflow._internal.serve.settings import Tls
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError

_TOKEN_FILE = (
    "the server's token (the file of `hpu serve --token-file`, by default ~/.local/state/hpu-tensorflow/serve.token)"
)


class Access:
    """Access rules of a server: TLS and token."""

    def __init__(self, tls: Tls, token: str) -> None:
        self._tls = tls
        self._token = token.encode()

    @property
    def encrypted(self) -> bool:
        return bool(self._tls.certificate)

    def check_address(self, address: str) -> None:
        """Raises StatusError if a server with these settings must not listen at the address."""
        if bool(self._tls.certificate) != bool(self._tls.private_key):
            raise StatusError(Code.INVALID_ARGUMENT, "only one of --tls-cert and --tls-key is set: pass both")
        if self._tls.client_ca and not self.encrypted:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                "client certificates (--tls-client-ca) require TLS: pass --tls-cert and --tls-key",
            )
        if address.startswith("unix:"):
            if self.encrypted:
                raise StatusError(
                    Code.INVALID_ARGUMENT,
                    f"{address} is a Unix socket, and TLS works only at host:port: omit --tls-cert and --tls-key",
                )
            return
        if not self.encrypted and not is_loopback(address):
            raise StatusError(
                Code.FAILED_PRECONDITION,
                f"{address} is not a loopback address, and without TLS the traffic is readable on the network: pass "
                "--tls-cert and --tls-key, or listen on unix:/path or 127.0.0.1:port",
            )
        if not self._token and not self._tls.client_ca:
            raise StatusError(
                Code.FAILED_PRECONDITION,
                f"any client that reaches {address} could use the modules: pass --token-file or --tls-client-ca (in "
                "Python token=, tls=), or listen on unix:/path",
            )

    def check(self, authorization: bytes) -> None:
        """Raises StatusError unless the client sent the right token. The TLS handshake checks certificates."""
        if not self._token:
            return
        if not authorization:
            raise StatusError(
                Code.UNAUTHENTICATED,
                f"this device server requires a token: set HPU_SERVER_TOKEN or HPU_SERVER_TOKEN_FILE to {_TOKEN_FILE}",
            )
        if not hmac.compare_digest(authorization, b"Bearer " + self._token):
            raise StatusError(
                Code.UNAUTHENTICATED,
                "the client's token does not match the server's token: correct HPU_SERVER_TOKEN or "
                f"HPU_SERVER_TOKEN_FILE to {_TOKEN_FILE}",
            )


def is_loopback(address: str) -> bool:
    """Whether the host of "host:port" is "localhost" or a loopback address."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
