"""The project's address: one constant, and the pages that cannot read it."""

from __future__ import annotations

import pathlib
import re

import pytest

from habana_frameworks.tensorflow._internal.version import PROJECT_URL, REPORT_BUG

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["pyproject.toml", "SECURITY.md", "README.md"])
def test_pages_name_the_address(page: str) -> None:
    text = (ROOT / page).read_text()
    assert f"{PROJECT_URL}/issues" in text
    assert set(re.findall(r"https://[\w-]+\.example", text)) == {PROJECT_URL}


def test_no_text_has_an_address_of_its_own() -> None:
    assert REPORT_BUG.endswith(f"{PROJECT_URL}/issues")
    sources = [*ROOT.glob("plugin/**/*.cc"), *ROOT.glob("plugin/**/*.h"), *ROOT.glob("habana_frameworks/**/*.py")]
    own = [path.name for path in sources if "report a bug" in path.read_text() or "report this" in path.read_text()]
    # rules.py imports nothing of the package.
    assert sorted(own) == ["rules.py", "version.py"]
