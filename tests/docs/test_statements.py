"""Pages state what the tree contains: figures of other pages, and names in the sources."""

from __future__ import annotations

import pathlib
import re

from tests.support.processes import ROOT


def test_the_readme_quotes_the_current_figure_of_keras() -> None:
    table = (ROOT / "docs" / "user" / "keras.md").read_text()
    row = re.search(r"^\| \*\*all\*\* \| (\d+) \| (\d+) \(", table, re.MULTILINE)
    assert row is not None
    assert f"{row[2]} of {row[1]} cases" in (ROOT / "README.md").read_text()


def test_doctor_has_the_subjects_of_its_page() -> None:
    rows = re.findall(r"^\| ([A-Za-z][^|]+) \| ", (ROOT / "docs" / "user" / "doctor.md").read_text(), re.MULTILINE)
    subjects = [subject for row in rows if row != "Subject" for subject in row.split(", ")]
    checks = ROOT / "habana_frameworks" / "tensorflow" / "cli" / "checks"
    sources = "".join(path.read_text() for path in checks.rglob("*.py"))
    assert len(subjects) > 20
    assert not [subject for subject in subjects if f'"{subject}"' not in sources]


def test_a_link_that_is_labelled_with_a_file_goes_to_it() -> None:
    links = re.compile(r"\[([\w./-]+\.md)\]\(([^)#]+)[^)]*\)")
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    found = [(page.name, *link) for page in pages for link in links.findall(page.read_text())]
    assert len(found) > 50
    assert not [link for link in found if pathlib.Path(link[1]).name != pathlib.Path(link[2]).name]
