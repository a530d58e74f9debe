"""Layers of the plugin (plugin/layers.yaml): generates include folders for the build and a diagram for the docs.

python tools/layers.py --includes build/layers    # one folder per layer, with links to the folders it may include
python tools/layers.py --tree                     # write the picture in docs/developer/architecture.md
python tools/layers.py --check                    # exit code 1 if the picture is outdated
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
_DOCUMENT = ROOT / "docs" / "developer" / "architecture.md"
_PICTURE = re.compile(r"(?<=<!-- layers: tools/layers.py -->\n).*?(?=<!-- end of layers -->)", re.DOTALL)


@dataclass(frozen=True)
class Layer:
    """A layer: one folder of plugin/."""

    name: str
    holds: str
    uses: frozenset[str]
    """Layers whose headers this layer may include."""


def read(path: pathlib.Path = ROOT / "plugin" / "layers.yaml") -> dict[str, Layer]:
    """Returns the layers by name. Each layer follows the layers that it uses.

    Raises ValueError if a layer uses a layer not declared above it, or does not list a layer that it uses indirectly.
    """
    layers: dict[str, Layer] = {}
    for name, entry in yaml.safe_load(path.read_text()).items():
        uses = frozenset(entry.get("uses", ()))
        unknown = uses - layers.keys()
        if unknown:
            raise ValueError(f"{path.name}: {name} uses {', '.join(sorted(unknown))}, not declared above it")
        missing = frozenset().union(*(layers[used].uses for used in uses)) - uses
        if missing:
            raise ValueError(f"{path.name}: {name} must also list {', '.join(sorted(missing))}, which its layers use")
        layers[name] = Layer(name, entry["holds"], uses)
    return layers


def make_includes(layers: dict[str, Layer], directory: pathlib.Path, root: pathlib.Path = ROOT) -> None:
    """Creates `directory`/<layer>/plugin, with links to the folders of plugin/ that the layer may include."""
    for layer in layers.values():
        folder = directory / layer.name / "plugin"
        folder.mkdir(parents=True, exist_ok=True)
        allowed = layer.uses | {layer.name}
        for link in folder.iterdir():
            if link.name not in allowed:
                link.unlink()
        for name in allowed:
            link, target = folder / name, root / "plugin" / name
            if link.is_symlink() and link.readlink() != target:
                link.unlink()
            if not link.is_symlink():
                link.symlink_to(target)


def picture(layers: dict[str, Layer]) -> str:
    """Returns a Mermaid diagram of the layers. Omits transitive uses."""
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'  {layer.name}["<b>{layer.name}</b><br>{layer.holds}"]' for layer in reversed(layers.values())]
    for layer in reversed(layers.values()):
        below = frozenset().union(*(layers[used].uses for used in layer.uses))
        lines += [f"  {layer.name} --> {used}" for used in sorted(layer.uses - below)]
    return "\n".join([*lines, "```", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--includes", type=pathlib.Path, metavar="DIR", help="write the include folders to DIR")
    action.add_argument("--tree", action="store_true", help="write the picture in docs/developer/architecture.md")
    action.add_argument("--check", action="store_true", help="exit code 1 if the picture is not up to date")
    arguments = parser.parse_args()
    layers = read()
    if arguments.includes is not None:
        make_includes(layers, arguments.includes)
        return 0
    old = _DOCUMENT.read_text()
    new = _PICTURE.sub(lambda _: picture(layers), old)
    if arguments.tree:
        _DOCUMENT.write_text(new)
    elif old != new:
        print("docs/developer/architecture.md does not match plugin/layers.yaml: run `make generate`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
