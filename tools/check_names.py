"""Checks that no two of the sources define the same name in an anonymous namespace: check_names.py SOURCES...

The build compiles the sources of a library in groups (cmake/UnityBuild.cmake). In a group, all anonymous namespaces are
one, so that a call could mean the definition of another source. Exit code 1 if a name is repeated.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator

ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# At the start of a line; what is indented is local or a member.
FUNCTION = re.compile(r"^(?!using|return)(?:[\w:<>,&*\[\]]+ )+[&*]*(\w+)\(", re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum class|enum) (\w+)", re.MULTILINE)
CONSTANT = re.compile(r"^(?:constexpr|const) [\w:<>,* ]+?[ *](\w+)(?:\[\w*\])*(?: = |\{)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Source:
    """A source and its text."""

    name: str
    text: str

    def names(self) -> set[str]:
        """Returns the names that its anonymous namespaces define."""
        found: set[str] = set()
        for block in ANONYMOUS.findall(self.text):
            for kind in (FUNCTION, TYPE, CONSTANT):
                found.update(kind.findall(block))
        return found


def repeated(sources: Iterable[Source]) -> Iterator[str]:
    """Yields a line for each name that two sources define."""
    first: dict[str, Source] = {}
    for source in sources:
        for name in sorted(source.names()):
            if name in first:
                yield f"{source.name}: {first[name].name} also defines {name}; rename one, or share one definition"
            first.setdefault(name, source)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=pathlib.Path, metavar="SOURCE")
    found = list(repeated(Source(str(path), path.read_text()) for path in parser.parse_args().sources))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
