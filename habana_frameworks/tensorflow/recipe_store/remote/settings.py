"""Settings of the remote cache."""

from __future__ import annotations

import dataclasses

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow.recipe_store.remote.errors import SettingsError


@dataclasses.dataclass(frozen=True)
class RemoteSettings:
    """URL of the storage, key and token files, time limit."""

    url: str
    key_file: str
    token_file: str = ""
    timeout: float = 10.0
    """Time limit of one transfer, in seconds."""

    @classmethod
    def from_environment(cls) -> RemoteSettings:
        """Reads the HPU_RECIPE_CACHE_REMOTE… variables. Raises SettingsError if no URL is set."""
        url = flags.recipe_cache_remote()
        if not url:
            raise SettingsError("no remote cache: set HPU_RECIPE_CACHE_REMOTE to file:///… , http://… or https://…")
        return cls(
            url,
            flags.recipe_cache_remote_key_file(),
            flags.recipe_cache_remote_token_file(),
            float(max(flags.recipe_cache_remote_timeout_s(), 1)),
        )
