"""Errors of the remote cache; each has the outcome that the plugin knows it by (plugin/recipes/transfer_process.h)."""

from __future__ import annotations

from typing import ClassVar


class RemoteError(RuntimeError):
    """The message says what failed and why."""

    outcome: ClassVar[str] = "failed"


class StorageError(RemoteError):
    """A transfer failed; a later one may succeed."""


class SettingsError(RemoteError):
    """The settings name no remote cache that can be used."""

    outcome = "unusable"


class RefusedError(RemoteError):
    """The storage holds an object of this name that is no entry signed by the team."""

    outcome = "refused"


class SkippedError(RemoteError):
    """The storage does not take this entry, but may take others."""

    outcome = "skipped"


class DeniedError(RemoteError):
    """The storage takes no uploads."""

    outcome = "denied"


class NotListableError(RemoteError):
    """The storage cannot list its objects."""
