"""The runner of documentation blocks fails for wrong outputs, exceptions and wrong markers."""

from __future__ import annotations

import pathlib
import textwrap

import pytest

from tests.docs import blocks, outputs, runner
from tests.docs.markers import MarkerError


def run(tmp_path: pathlib.Path, text: str) -> runner.Outcome:
    """Runs a page with this text. "~~~" stands for a fence."""
    page = tmp_path / "page.md"
    page.write_text(textwrap.dedent(text).replace("~~~", "```"))
    return runner.run_page(blocks.read(page))


def test_right_outputs_of_all_languages_pass(tmp_path: pathlib.Path) -> None:
    outcome = run(
        tmp_path,
        """
        <!-- block: file greet.py -->
        ~~~python
        import sys

        print("hello", sys.argv[1])
        ~~~

        ~~~python
        value = 4.25
        print(value)
        ~~~

        ~~~text
        4.…
        ~~~

        <!-- block: continues; figures vary -->
        ~~~python
        print("value:  ", value * 2)
        ~~~

        ~~~text
        value: 1.0
        ~~~

        ~~~console
        $ export NAME=you
        $ python greet.py $NAME
        hello you
        ~~~

        <!-- block: continues -->
        ~~~sh
        test "$NAME" = you
        ~~~

        <!-- block: not run: needs a card -->
        ~~~sh
        exit 1
        ~~~
        """,
    )
    assert not outcome.failures
    assert (outcome.run, outcome.compared, outcome.files) == (4, 3, 1)


def test_each_wrong_block_fails_at_its_line(tmp_path: pathlib.Path) -> None:
    outcome = run(
        tmp_path,
        """\
        ~~~python
        print(4)
        ~~~

        ~~~text
        5
        ~~~

        ~~~python
        print("not shown")
        ~~~

        ~~~python
        kept = 1


        raise ValueError("planted")
        ~~~

        <!-- block: continues -->
        ~~~python
        kept += 1
        ~~~

        ~~~sh
        false
        true
        ~~~

        ~~~console
        $ echo one; echo two
        one
        ~~~
        """,
    )
    found = {int(failure.place.split(":")[1]): failure.text for failure in outcome.failures}
    assert list(found) == [2, 10, 14, 22, 26, 31]
    assert "expected:\n5\n\nprinted:\n4" in found[2]
    assert "does not show what the block prints:\nnot shown" in found[10]
    assert "ValueError: planted" in found[14] and "line 17" in found[14]  # the line of the page
    assert found[22] == "is not reached"
    assert found[26].startswith("ends with exit code 1")
    assert "printed:\none\ntwo" in found[31]


def test_a_program_that_does_not_end_fails(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nsleep 60\n```\n")
    (failure,) = runner.run_page(blocks.read(page), timeout=1).failures
    assert "runs for more than 1 seconds" in failure.text


def test_a_part_of_a_file_that_changed_fails(tmp_path: pathlib.Path) -> None:
    outcome = run(tmp_path, "<!-- block: part of CONTRIBUTING.md -->\n~~~text\nnot there\n~~~\n")
    assert [failure.text for failure in outcome.failures] == ["the block is not a part of CONTRIBUTING.md"]


def test_a_block_without_its_requirement_is_skipped(tmp_path: pathlib.Path) -> None:
    outcome = run(tmp_path, "<!-- block: needs no_such_module.inner -->\n~~~python\n1 / 0\n~~~\n")
    assert not outcome.failures and not outcome.run
    assert "no_such_module.inner is missing" in outcome.skipped[0]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("~~~\nno language\n~~~\n", "page.md:2: a block of language (none) needs a marker"),
        ("~~~nginx\nlisten 80;\n~~~\n", "a block of language nginx needs a marker"),
        ("<!-- block: not run:  -->\n~~~sh\ntrue\n~~~\n", "unknown marker or missing value"),
        ("<!-- block: contineus -->\n~~~sh\ntrue\n~~~\n", "unknown marker or missing value: contineus"),
        ("<!-- block: slow -->\n\n~~~sh\ntrue\n~~~\n", "a marker stands before a line that opens no block"),
        ("<!-- block: continues -->\n~~~python\n1\n~~~\n", "no block of its language precedes it"),
        ("<!-- block: file x.py -->\n~~~python\n1\n~~~\n", "no later shell block of the page uses the file x.py"),
    ],
)
def test_wrong_markers_are_errors(tmp_path: pathlib.Path, text: str, error: str) -> None:
    with pytest.raises(MarkerError) as raised:
        run(tmp_path, text)
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("expected", "actual", "vary"),
    [
        ("a\n…\nd", "a\nb\nc\nd", False),
        ("a\n…\nd", "a\nd", False),
        ("x = … ms", "x =   3.5 ms", False),
        ("took 1.5 s, 93 %", "took 12 s, 9.25 %", True),
        ("223ms/epoch, 49.3 KB", "1s/epoch, 1.1 MB", True),
    ],
)
def test_matching_outputs(expected: str, actual: str, vary: bool) -> None:
    assert outputs.matches(expected, actual, vary)


@pytest.mark.parametrize(
    ("expected", "actual", "vary"),
    [
        ("a\n…\nd", "a\nb\nc", False),
        ("x = … ms", "x = 3.5 s", False),
        ("x = … ms", "x = 3\n5 ms", False),  # an ellipsis in a line does not stand for lines
        ("took 1.5 s", "took 1.6 s", False),
        ("took 1.5 s", "took a s", True),
        ("took 1.5 s", "took 1.5 MB", True),
        ("took 1.5 s", "took 1.5 ms", False),
        ("a", "", False),
        ("", "a", False),
    ],
)
def test_differing_outputs(expected: str, actual: str, vary: bool) -> None:
    assert not outputs.matches(expected, actual, vary)
