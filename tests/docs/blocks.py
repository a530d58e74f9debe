"""Code blocks of a Markdown page, and the programs that they form."""

from __future__ import annotations

import dataclasses
import enum
import pathlib
import re
from collections.abc import Iterator

from tests.docs import markers
from tests.docs.markers import MarkerError, Markers
from tests.support.processes import ROOT

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)$")


class Language(enum.Enum):
    """Languages of blocks that run."""

    PYTHON = "python"
    SHELL = "sh"
    CONSOLE = "console"  # commands after "$ ", each with its output

    @property
    def interpreter(self) -> str:
        return "python" if self is Language.PYTHON else "bash"


OUTPUT = "text"  # the language of the output of the preceding block
PICTURE = "mermaid"


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block. `line` is the number of its first line of code; lines count from 1."""

    page: pathlib.Path
    line: int
    language: str
    text: str
    markers: Markers

    @property
    def place(self) -> str:
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page.name
        return f"{page}:{self.line}"

    @property
    def end(self) -> int:
        """Line of the closing fence."""
        return self.line + len(self.text.splitlines())

    def error(self, text: str) -> MarkerError:
        return MarkerError(f"{self.place}: {text}")


@dataclasses.dataclass
class Step:
    """A block that runs, and its output in the page, if any."""

    block: Block
    output: Block | None = None


@dataclasses.dataclass
class Program:
    """Steps that share a process."""

    language: Language
    steps: list[Step]

    @property
    def interpreter(self) -> str:
        return self.language.interpreter

    @property
    def slow(self) -> bool:
        return any(step.block.markers.slow for step in self.steps)

    @property
    def needs(self) -> list[str]:
        return [step.block.markers.needs for step in self.steps if step.block.markers.needs]


@dataclasses.dataclass
class Page:
    """Blocks of a page by purpose. Pictures are in none of the lists."""

    path: pathlib.Path
    programs: list[Program] = dataclasses.field(default_factory=list)
    files: list[Block] = dataclasses.field(default_factory=list)
    parts: list[Block] = dataclasses.field(default_factory=list)
    not_run: list[Block] = dataclasses.field(default_factory=list)


def pages() -> list[pathlib.Path]:
    """Returns the pages whose blocks run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def read(path: pathlib.Path) -> Page:
    """Returns the blocks of a page by purpose. Raises MarkerError."""
    page = Page(path)
    preceding: Step | None = None  # a step whose output may follow
    for block in _blocks(path):
        step = preceding
        preceding = None
        if block.markers.not_run:
            page.not_run.append(block)
        elif block.markers.part_of:
            page.parts.append(block)
        elif block.markers.file:
            page.files.append(block)
        elif block.language == OUTPUT and step is not None:
            step.output = block
        elif block.language in [language.value for language in Language]:
            preceding = _add_step(page, block)
        elif block.language != PICTURE:
            raise block.error(
                f"a block of language {block.language or '(none)'} needs a marker, or a program before it"
            )
    for block in page.files:
        _require_use(page, block)
    return page


def _blocks(path: pathlib.Path) -> Iterator[Block]:
    lines = path.read_text().splitlines()
    comments: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        fence = _FENCE.match(line)
        if fence is not None:
            end = next(number for number in range(index + 1, len(lines)) if lines[number].strip() == "```")
            text = "".join(line.removeprefix(fence["indent"]) + "\n" for line in lines[index + 1 : end])
            try:
                found = markers.parse(comments)
            except MarkerError as error:
                raise MarkerError(f"{path.name}:{index + 1}: {error}") from error
            yield Block(path, index + 2, fence["language"], text, found)
            comments, index = [], end
        elif markers.is_marker(line):
            comments.append(line.strip())
        elif comments:
            raise MarkerError(f"{path.name}:{index + 1}: a marker stands before a line that opens no block: {line}")
        index += 1


def _add_step(page: Page, block: Block) -> Step:
    language = Language(block.language)
    step = Step(block)
    if not block.markers.continues:
        page.programs.append(Program(language, [step]))
        return step
    for program in reversed(page.programs):
        if program.interpreter == language.interpreter:
            program.steps.append(step)
            return step
    raise block.error("the block continues, but no block of its language precedes it")


def _require_use(page: Page, file: Block) -> None:
    name = file.markers.file
    shells = [step.block for program in page.programs for step in program.steps if program.interpreter == "bash"]
    if not any(block.line > file.line and name in block.text for block in shells):
        raise file.error(f"no later shell block of the page uses the file {name}")
