"""Version of the package; pyproject.toml and CMake read it from here."""

__version__ = "0.2.0"
