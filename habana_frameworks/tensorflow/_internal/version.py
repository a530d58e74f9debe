"""Version and address of the project; pyproject.toml and CMake read them from here."""

__version__ = "0.2.0"

PROJECT_URL = "https://hpu-tensorflow.example"
REPORT_BUG = f"report a bug at {PROJECT_URL}/issues"
