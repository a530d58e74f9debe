"""Fills the HTML template of a page that needs no other file."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping

_MARK = re.compile("@([A-Z]+)@")


def fill(folder: pathlib.Path, parts: Mapping[str, str]) -> str:
    """Returns page.html of `folder`, with style.css in place of @STYLE@ and parts[NAME] in place of @NAME@."""
    texts = {**parts, "STYLE": (folder / "style.css").read_text(encoding="utf-8")}
    template = (folder / "page.html").read_text(encoding="utf-8")
    marks = set(_MARK.findall(template))
    assert marks == texts.keys(), f"page.html has the marks {sorted(marks)}, not {sorted(texts)}"
    return _MARK.sub(lambda mark: texts[mark[1]], template)
