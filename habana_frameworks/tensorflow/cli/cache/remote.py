"""`hpu cache remote status`, `push` and `pull`."""

from __future__ import annotations

import argparse
import re
from typing import Any

from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow.cli.cache import common
from habana_frameworks.tensorflow.recipe_store.remote import RemoteSettings, sharing

_KEY = re.compile(r"[0-9a-f]{64}")


def add_parsers(subparsers: Any) -> None:
    remote: argparse.ArgumentParser = subparsers.add_parser(
        "remote",
        help="share recipes with other machines through HPU_RECIPE_CACHE_REMOTE",
        description="Manages the remote cache set by the HPU_RECIPE_CACHE_REMOTE variables (docs/tuning/recipes.md).",
    )
    commands = remote.add_subparsers(dest="remote_command", metavar="COMMAND", required=True)
    common.add_command(
        commands,
        "status",
        _status,
        "Check the remote cache, and count the local recipes in it. Exit code 2: the remote cache cannot be used.",
    )
    push = common.add_command(
        commands, "push", _push, "Upload all local recipes that the remote cache lacks. Exit code 1: some failed."
    )
    push.add_argument("--overwrite", action="store_true", help="also upload recipes that the remote cache already has")
    pull = common.add_command(
        commands,
        "pull",
        _pull,
        "Fetch the recipes that fit this installation and machine. Exit code 1: some were refused or failed.",
    )
    pull.add_argument(
        "keys", nargs="*", type=_key, metavar="KEY", help="only these keys (default: all; required for an HTTP server)"
    )


def _key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise argparse.ArgumentTypeError(f"not 64 hexadecimal digits: {text!r}; `hpu cache ls --json` lists the keys")
    return text


def _status(arguments: argparse.Namespace) -> int:
    found = sharing.status(common.directory_of(arguments), RemoteSettings.from_environment())
    if arguments.json:
        common.print_json(found)
        return 0
    there = "" if found.remote_entries is None else f" holds {text.number(found.remote_entries, 'recipe')} and"
    print(f"{found.url}{there} has {found.shared} of {text.number(found.local_entries, 'local recipe')}")
    return 0


def _push(arguments: argparse.Namespace) -> int:
    settings = RemoteSettings.from_environment()
    done = sharing.push(common.directory_of(arguments), settings, arguments.overwrite)
    if arguments.json:
        common.print_json(done)
    else:
        total = text.size(sum(entry.bytes for entry in done.entries))
        print(
            f"{text.number(len(done.entries), 'recipe')} ({total}) uploaded to {settings.url}; "
            f"{done.present} were already there"
        )
        common.print_list("Not uploaded:", _lines(done.failed))
    return 1 if done.failed else 0


def _pull(arguments: argparse.Namespace) -> int:
    path, settings = common.directory_of(arguments), RemoteSettings.from_environment()
    done = sharing.pull(path, settings, arguments.keys)
    if arguments.json:
        common.print_json(done)
    else:
        print(f"{text.number(len(done.entries), 'recipe')} fetched into {path}; {done.present} were already there")
        unfit = {key: "; ".join(reasons) for key, reasons in done.misfits.items()}
        common.print_list("Not fetched, because no program can load them on this machine:", _lines(unfit))
        common.print_list("Refused:", _lines(done.refused))
        common.print_list("Not fetched:", _lines(done.failed))
    return 1 if done.refused or done.failed else 0


def _lines(reasons: dict[str, str]) -> list[str]:
    return [f"{key[: common.SHORT_KEY]}: {reason}" for key, reason in reasons.items()]
