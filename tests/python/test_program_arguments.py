"""Programs of `hpu explain`, `hpu run` and similar commands: options after the program, interpreters, modules."""

from __future__ import annotations

import argparse
import pathlib

import pytest

from habana_frameworks.tensorflow import cli
from habana_frameworks.tensorflow._internal.launch import module_choice
from habana_frameworks.tensorflow._internal.patches import keyboard_interrupts
from habana_frameworks.tensorflow.cli import explain, program
from habana_frameworks.tensorflow.cli.parser import Parser

OBSERVERS = ("explain", "report", "check", "warmup", "compile-check", "run")


def program_of(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    program.add_arguments(parser)
    return parser.parse_args(words)


def note(tmp_path: pathlib.Path, text: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Returns the note of `hpu explain` about the words after a program with this text."""
    script = tmp_path / "train.py"
    script.write_text(text)
    parser = Parser(prog="hpu")
    explain.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["explain", "--time", str(script), *words])
    assert arguments.arguments == words and arguments.html is None
    assert program.accepts("hpu explain", arguments)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words", "named"),
    [
        ("pass", ["--html", "page.html"], "--html"),
        ("pass", ["x", "--html=page.html", "--json", "-", "--json"], "--html, --json"),
        ("parser.add_argument('--html')", ["--html", "page.html"], ""),
        ('flags.DEFINE_string("html", "", "")', ["--html", "page.html"], ""),
        ("import html", ["--html"], "--html"),
        ("pass", ["--epochs", "2", "--help", "html"], ""),
        ("pass", [], ""),
    ],
)
def test_options_after_the_program(
    text: str, words: list[str], named: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Options that only the command knows are reported; the program receives them anyway."""
    advice = "after train.py goes to the program: put options of `hpu explain` before the program"
    assert note(tmp_path, text, words, capsys) == (f"hpu explain: {named} {advice}\n" if named else "")


@pytest.mark.parametrize(
    ("command", "words", "named", "problem"),
    [
        ("warmup", ["--path", "recipes"], "--path", "no cache directory: "),
        ("compile-check", ["--target=h100"], "--target", "no card: pass --target CARD (a100, "),
        ("run", ["-np", "2"], "-np", "--min-ranks 2 exceeds"),
    ],
)
def test_a_misplaced_option_that_the_command_needs(
    command: str,
    words: list[str],
    named: str,
    problem: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The note about the option precedes the problem that its absence causes."""
    monkeypatch.delenv("TF_RECIPE_CACHE_PATH", raising=False)
    script = tmp_path / "train.py"
    script.write_text("pass")
    options = ["--min-ranks", "2"] if command == "run" else []
    assert cli.main([command, *options, str(script), *words]) == 2
    advice, error = capsys.readouterr().err.splitlines()
    assert advice.startswith(f"hpu {command}: {named} after train.py goes to the program: put options of ")
    assert error.startswith(f"hpu {command}: {problem}")


@pytest.mark.parametrize("command", OBSERVERS)
def test_a_missing_program(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The program is required, its arguments are not; each command can run a module."""
    with pytest.raises(SystemExit) as end:
        cli.main([command, "-m"])
    assert end.value.code == 2
    assert capsys.readouterr().err.endswith("error: the following arguments are required: script\n")


def test_an_interpreter_in_place_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "python3", "train.py"]) == 2
    assert capsys.readouterr().err == (
        "hpu run: python3 is an interpreter, which this command starts itself: leave python3 out\n"
    )


def test_a_module_in_the_working_directory(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "local_trainer.py").write_text("import sys\nprint(__name__, sys.argv[1:])\nsys.exit(7)\n")
    monkeypatch.chdir(tmp_path)
    assert program.run("hpu explain", program_of("-m", "local_trainer", "--epochs", "2")) == 7
    assert capsys.readouterr().out == "__main__ ['--epochs', '2']\n"
    assert program.run("hpu explain", program_of("-m", "local_trainr")) == 1
    assert capsys.readouterr().err == "hpu explain: No module named local_trainr\n"


def test_the_traceback_of_a_program_is_pythons(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Frames of this package and of runpy are left out, and no line is added."""
    script = tmp_path / "train.py"
    script.write_text("def step():\n    raise OSError('no data')\n\n\nstep()\n")
    assert program.run("hpu explain", program_of(str(script))) == 1
    assert capsys.readouterr().err == (
        "Traceback (most recent call last):\n"
        f'  File "{script}", line 5, in <module>\n    step()\n'
        f"  File \"{script}\", line 2, in step\n    raise OSError('no data')\n"
        "OSError: no data\n"
    )


def test_the_traceback_of_a_failed_call_of_tensorflow(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The wrapper of TensorFlow's calls is left out."""
    script = tmp_path / "train.py"
    call = "keyboard_interrupts.raise_keyboard_interrupt(int)('no number')"
    script.write_text(f"from {keyboard_interrupts.__package__} import keyboard_interrupts\n{call}\n")
    assert program.run("hpu explain", program_of(str(script))) == 1
    assert capsys.readouterr().err == (
        "Traceback (most recent call last):\n"
        f'  File "{script}", line 2, in <module>\n    {call}\n'
        "ValueError: invalid literal for int() with base 10: 'no number'\n"
    )


@pytest.mark.parametrize(("text", "modules"), [("all", []), ("0, 3", ["0", "3"]), ("", [])])
def test_visible_modules(text: str, modules: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`all` selects no module, as in the plugin, so a rank gets the module of its number."""
    monkeypatch.setenv("HABANA_VISIBLE_MODULES", text)
    assert module_choice.visible_modules() == modules
    assert module_choice.get_hw_module_id(1) == (3 if modules else 1)
