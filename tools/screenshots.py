"""Writes the pictures of docs/ that show pages of the command `hpu`. Needs Chromium.

`python -m tools.screenshots` writes all pictures, `python -m tools.screenshots report` one. Exit code 0: written;
1: a page or a picture cannot be made; 2: wrong usage.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from tools import palette

ROOT = pathlib.Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclasses.dataclass(frozen=True)
class Picture:
    """One picture: docs/<name>.png."""

    command: tuple[str, ...]
    """Arguments of `hpu`; {page} is the page that the command writes."""
    width: int
    height: int
    fragment: str = ""
    """Fragment of the page's address, which selects a view."""


PICTURES = {
    "explain": Picture(("explain", "--html", "{page}", "tests/explain/refusals.py"), 1280, 600, "op=on_cpu"),
    "memory": Picture(
        ("explain", "--memory", "--html", "{page}", "examples/digits_keras.py", "--epochs", "1"), 1280, 960
    ),
    "report": Picture(("report", "--html", "{page}", "examples/slow_step.py"), 900, 1180),
}


def write(name: str, browser: str) -> pathlib.Path:
    """Runs the picture's command, and writes docs/<name>.png. Raises subprocess.CalledProcessError."""
    picture = PICTURES[name]
    with tempfile.TemporaryDirectory() as directory:
        page, shot = pathlib.Path(directory, "page.html"), pathlib.Path(directory, "shot.png")
        arguments = [argument.format(page=page) for argument in picture.command]
        _run([sys.executable, "-m", "habana_frameworks.tensorflow", *arguments])
        _run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--virtual-time-budget=3000",  # the page draws in an animation frame
                f"--window-size={picture.width},{picture.height}",
                f"--screenshot={shot}",
                f"{page.as_uri()}#{picture.fragment}",
            ]
        )
        target = ROOT / "docs" / f"{name}.png"
        target.write_bytes(palette.reduce(shot.read_bytes()))
    return target


def _run(command: list[str]) -> None:
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object: bytes by picture")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in PICTURES:
            parser.error(f"no picture {name}; pictures: {', '.join(PICTURES)}")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"no browser: install one of {', '.join(BROWSERS)}", file=sys.stderr)
        return 1
    written = {}
    for name in arguments.names or PICTURES:
        try:
            written[name] = write(name, browser).stat().st_size
        except subprocess.CalledProcessError as error:
            print(f"{name}: {error}\n{error.stderr.decode(errors='replace')}", file=sys.stderr)
            return 1
    print(
        json.dumps(written) if arguments.json else "\n".join(f"{name}: {size} bytes" for name, size in written.items())
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
