"""Remote recipe cache, shared by the machines of a team: HPU_RECIPE_CACHE_REMOTE. See docs/tuning/recipes.md."""

from habana_frameworks.tensorflow.recipe_store.remote.cache import RemoteCache
from habana_frameworks.tensorflow.recipe_store.remote.errors import RemoteError
from habana_frameworks.tensorflow.recipe_store.remote.settings import RemoteSettings

__all__ = ["RemoteCache", "RemoteError", "RemoteSettings"]
