"""Python API behind `hpu cache` for directories of recipes (TF_RECIPE_CACHE_PATH). See docs/user/cache_tool.md."""

from habana_frameworks.tensorflow._internal.secret_files import KeyFileError
from habana_frameworks.tensorflow.recipe_store._plugin import StoreError
from habana_frameworks.tensorflow.recipe_store.bundle import BundleError, export_bundle, import_bundle
from habana_frameworks.tensorflow.recipe_store.directory import Cleaned, Entry, Listing, clean, list_entries
from habana_frameworks.tensorflow.recipe_store.fitness import Installation, conditions, misfits
from habana_frameworks.tensorflow.recipe_store.misses import Miss, explain_misses
from habana_frameworks.tensorflow.recipe_store.signing_key import SigningKey

__all__ = [
    "BundleError",
    "Cleaned",
    "Entry",
    "Installation",
    "KeyFileError",
    "Listing",
    "Miss",
    "SigningKey",
    "StoreError",
    "clean",
    "conditions",
    "explain_misses",
    "export_bundle",
    "import_bundle",
    "list_entries",
    "misfits",
]
