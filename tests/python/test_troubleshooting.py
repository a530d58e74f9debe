"""docs/user/troubleshooting.md quotes only messages that the sources contain."""

from __future__ import annotations

import re

import pytest

from tests.support.processes import ROOT

HEADINGS = re.findall(r"^### `([^`]+)`", (ROOT / "docs" / "user" / "troubleshooting.md").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def sources() -> str:
    """Returns all string literals, with adjacent literals joined."""
    files = [*(ROOT / "plugin").rglob("*.cc"), *(ROOT / "habana_frameworks").rglob("*.py")]
    text = "".join(path.read_text() for path in files)
    return re.sub(r'"\s*\n\s*f?"', "", text)


@pytest.mark.parametrize("message", HEADINGS)
def test_quoted_message_exists(message: str, sources: str) -> None:
    assert message in sources


def test_messages_exist() -> None:
    assert len(HEADINGS) > 10
