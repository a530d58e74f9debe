"""Errors of the remote cache. `outcome` is the error's name in the protocol of plugin/recipes/transfer_process.h."""

from __future__ import annotations

from typing import ClassVar


class RemoteError(RuntimeError):
    """Base class of remote cache errors."""

    outcome: ClassVar[str] = "failed"


class StorageError(RemoteError):
    """A transfer failed; a retry may succeed."""


class SettingsError(RemoteError):
    """The settings of the remote cache are unusable."""

    outcome = "unusable"


class RefusedError(RemoteError):
    """The stored object is too large, or is not an entry that the team signed for this name."""

    outcome = "refused"


class SkippedError(RemoteError):
    """An entry cannot be uploaded. Uploads of other entries may succeed."""

    outcome = "skipped"


class DeniedError(RemoteError):
    """The storage accepts no uploads."""

    outcome = "denied"


class NotListableError(RemoteError):
    """The storage cannot list its objects."""
