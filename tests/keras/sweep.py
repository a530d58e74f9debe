"""Runs all public parts of tf.keras on HPU and CPU: `python -m tests.keras.sweep --write docs/user/keras.md`.

Exit code: 0; 1 if a result is wrong, a case fails, or --check finds an outdated page; 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from habana_frameworks.tensorflow import load_habana_module
from tests.keras import backend_cases, layer_cases, page, part_cases
from tests.keras.case import Case, Outcome, Verdict, quiet, run

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "user" / "keras.md"
_SAMPLED = 8  # one of this many cases is in the sample


def cases(only: str = "") -> Iterator[Case]:
    """Yields the cases whose title matches the regular expression."""
    for module in (layer_cases, part_cases, backend_cases):
        yield from (case for case in module.cases() if re.search(only, case.title))


def sample(all_cases: Iterable[Case]) -> list[Case]:
    """Returns every eighth case of each kind, in the order of the page. Names order the cases of a kind by family."""
    kinds: dict[str, list[Case]] = {}
    for case in all_cases:
        kinds.setdefault(case.kind, []).append(case)
    return [case for group in kinds.values() for case in group[::_SAMPLED]]


def same_names() -> Mapping[str, Sequence[str]]:
    """Returns the aliases of each case, by title."""
    import tensorflow as tf

    keras = tf.keras
    modules = {
        "activations": keras.activations,
        "losses": keras.losses,
        "metrics": keras.metrics,
        "optimizers": keras.optimizers,
        "optimizers.legacy": keras.optimizers.legacy,
        "initializers": keras.initializers,
        "regularizers": keras.regularizers,
        "constraints": keras.constraints,
    }
    found = {f"layers.{name}": same for name, same in layer_cases.names().items()}
    for kind, module in modules.items():
        found.update({f"{kind}.{name}": same for name, same in part_cases.names(module).items()})
    return found


def run_all(only: str, shown: bool) -> list[Outcome]:
    """Runs the cases whose title matches. shown: prints a line per case."""
    import tensorflow as tf

    quiet()
    # Compiles ops outside clusters at their first call, as a card does.
    os.environ.setdefault("HPU_EAGER_COMPILE_AFTER", "0")
    load_habana_module()
    outcomes = []
    for case in cases(only):
        outcomes.append(run(case))
        tf.keras.backend.clear_session()
        if shown:
            reasons = "".join(f"\n    {reason}" for reason in outcomes[-1].reasons)
            print(f"{outcomes[-1].verdict.value:20} {case.title}{reasons}", file=sys.stderr, flush=True)  # noqa: T201
    return outcomes


def main() -> int:
    """Runs the sweep and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", metavar="REGEX", help="run only cases whose title matches")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    parser.add_argument("--quiet", action="store_true", help="do not print a line per case")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", type=pathlib.Path, metavar="FILE", help="write the page")
    what.add_argument("--check", action="store_true", help=f"fail if {PAGE.name} is outdated")
    arguments = parser.parse_args()
    if arguments.only and (arguments.write or arguments.check):
        parser.error("--only excludes --write and --check, because the page needs all cases")
    outcomes = run_all(arguments.only, not arguments.quiet)
    bad = [outcome for outcome in outcomes if outcome.verdict in (Verdict.WRONG, Verdict.FAILED)]
    text = page.write(outcomes, same_names(), datetime.date.today()) if outcomes else ""
    if arguments.write:
        arguments.write.write_text(text)
    if arguments.json:
        print(json.dumps([{**dataclasses.asdict(o), "verdict": o.verdict.name} for o in outcomes]))  # noqa: T201
    if arguments.check and page.without_date(PAGE.read_text()) != page.without_date(text):
        print(f"{PAGE} does not match this sweep: run `make keras`", file=sys.stderr)  # noqa: T201
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
