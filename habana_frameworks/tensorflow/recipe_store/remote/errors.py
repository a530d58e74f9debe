"""Errors of the remote cache. `outcome` is the error's name in the protocol of plugin/recipes/transfer_process.h."""

from __future__ import annotations

from typing import ClassVar


class RemoteError(RuntimeError):
    """Base class of remote cache errors. The message contains the failed operation and the reason."""

    outcome: ClassVar[str] = "failed"


class StorageError(RemoteError):
    """A transfer failed; a retry may succeed."""


class SettingsError(RemoteError):
    """The settings of the remote cache are unusable."""

    outcome = "unusable"


class RefusedError(RemoteError):
    """The stored object with this name is not an entry signed by the team."""

    outcome = "refused"


class SkippedError(RemoteError):
    """An entry cannot be uploaded. Uploads of other entries may succeed."""

    outcome = "skipped"


class DeniedError(RemoteError):
    """The storage accepts no uploads."""

    outcome = "denied"


class NotListableError(RemoteError):
    """The storage cannot list its objects."""
