"""The commands `hpu` and `hl-smi`: wrong usage is answered with the subcommand's usage and the nearest name."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from habana_frameworks.tensorflow import cli
from habana_frameworks.tensorflow.cli import cache
from habana_frameworks.tensorflow.cli.parser import Parser
from tests.support.processes import ROOT
from tools import link_tree

GAUDI_FIELDS = (
    "timestamp, name, bus_id, driver_version, temperature.aip, module_id, utilization.aip, memory.total, memory.free, "
    "memory.used, index, serial, uuid, power.draw, ecc.errors.uncorrected.aggregate.total, "
    "ecc.errors.uncorrected.volatile.total, ecc.errors.corrected.aggregate.total, "
    "ecc.errors.corrected.volatile.total, ecc.errors.dram.aggregate.total, "
    "ecc.errors.dram-corrected.aggregate.total, ecc.errors.dram.volatile.total, "
    "ecc.errors.dram-corrected.volatile.total, ecc.mode.current, ecc.mode.pending, stats.violation.power, "
    "stats.violation.thermal, clocks.current.soc, clocks.max.soc, clocks.limit.soc, clocks.limit.tpc, "
    "pcie.link.gen.max, pcie.link.gen.current, pcie.link.width.max, pcie.link.width.current, pcie.link.speed.max, "
    "pcie.link.speed.current"
)
"""Fields of `hl-smi -Q`, from the Gaudi documentation."""


@pytest.mark.parametrize(
    ("arguments", "usage", "message"),
    [
        (["smy"], "usage: hpu [-h]", "invalid choice: 'smy' (choose from doctor, "),
        (["smy"], "usage: hpu [-h]", "; did you mean smi?"),
        (["cache", "lst"], "usage: hpu cache [-h]", "; did you mean ls?"),
        (["cache", "stat", "recipes"], "usage: hpu cache stat [-h]", "recipes; pass a directory with --path"),
        (["check", "--card", "GAUDI4", "x.py"], "usage: hpu check [-h]", "; did you mean gaudi3 or gaudi2?"),
        (["check", "--card", "gaudi9", "x.py"], "usage: hpu check [-h]", "; did you mean gaudi3 or gaudi2?"),
        (["check", "--card", "h300", "x.py"], "usage: hpu check [-h]", "; did you mean h200 or h100?"),
        (["check", "--card", "guadi2", "x.py"], "usage: hpu check [-h]", "; did you mean gaudi2?"),
        (["doctor", "--jsn"], "usage: hpu doctor [-h]", "unrecognized arguments: --jsn; did you mean --json?"),
        (["smi", "--lop=3"], "usage: hpu smi [-h]", "unrecognized arguments: --lop=3; did you mean --loop?"),
        (["smi", "--foo"], "usage: hpu smi [-h]", "unrecognized arguments: --foo\n"),
        (["doctor", "--hlp"], "usage: hpu doctor [-h]", "; did you mean --help?"),
        (["doctor", "--html", "x"], "usage: hpu doctor [-h]", "unrecognized arguments: --html x\n"),
        (["doctor", "--zzzz", "x"], "usage: hpu doctor [-h]", "unrecognized arguments: --zzzz x\n"),
        (["serve", "--backend", "nul"], "usage: hpu serve [-h]", "; did you mean null?"),
    ],
)
def test_wrong_usage(arguments: list[str], usage: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    errors = capsys.readouterr().err
    assert errors.startswith(usage) and message in errors


@pytest.mark.parametrize("command", ["explain", "report", "check"])
def test_pages_have_one_option(command: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--html", f"{tmp_path}/none/page.html", __file__]) == 2
    assert f"hpu {command}: --html {tmp_path}/none/page.html: there is no directory" in capsys.readouterr().err


def test_the_help_of_cache_names_its_commands() -> None:
    subparsers = Parser(prog="hpu").add_subparsers()
    cache.add_parser(subparsers)
    (own,) = (action for action in subparsers.choices["cache"]._actions if action.choices)
    (line,) = (choice.help for choice in subparsers._choices_actions if choice.dest == "cache")
    assert own.choices is not None and line == f"recipes on disk: {', '.join(own.choices)}"


def test_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a command, `hpu` lists the commands, like --help."""
    assert cli.main([]) == 2
    output = capsys.readouterr()
    assert not output.out and "doctor" in output.err and "check the setup and suggest fixes" in output.err


@pytest.mark.parametrize(("arguments", "usage"), [([], "usage: hpu [-h]"), (["smi"], "usage: hpu smi [-h]")])
def test_help_is_a_word_too(arguments: list[str], usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["help", *arguments])
    assert end.value.code == 0 and capsys.readouterr().out.startswith(usage)


@pytest.fixture
def emulator(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"HPU_BACKEND": "emulator", "HPU_MODULES": "2", "HPU_MODULE_LOCK_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("emulator")
def test_hl_smi_takes_every_field_of_gaudis_documentation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = GAUDI_FIELDS.split(", ")
    monkeypatch.setattr(sys, "argv", ["hl-smi", f"--query-aip={','.join(names)}", "--format=csv,noheader,nounits"])
    assert cli.hl_smi() == 0
    rows = [line.split(", ") for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2 and {len(row) for row in rows} == {len(names)}
    values = dict(zip(names, rows[1]))
    known = {"module_id": "1", "memory.used": "0", "utilization.aip": "0", "name": "HL-225", "bus_id": "ffff:01:00.0"}
    assert {name: values[name] for name in known} == known
    assert {values[name] for name in names if name.startswith(("ecc.", "stats.", "clocks.", "pcie."))} == {"N/A"}


@pytest.mark.usefixtures("emulator")
def test_hl_smi_takes_the_options_of_published_scripts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Queries of scripts on GitHub: counts of cards, module numbers, utilisation, columns in another case."""
    queries = {
        "-Q bus_id --format=csv": "bus_id\nffff:00:00.0\nffff:01:00.0\n",
        "-Q index,module_id -f csv": "index, module_id\n0, 0\n1, 1\n",
        "-Q module_id -f csv,noheader": "0\n1\n",
        "--query-aip=utilization.aip --format=csv,noheader,nounits": "0\n0\n",
        "-i ffff:01:00.0 --query-aip=memory.used,utilization.aip --format=csv,noheader,nounits": "0, 0\n",
        "--query-aip=Name,memory.total --format=csv,nounits": "name, memory.total\nHL-225, 98304\nHL-225, 98304\n",
    }
    for query, answer in queries.items():
        monkeypatch.setattr(sys, "argv", ["hl-smi", *query.split()])
        assert cli.hl_smi() == 0
        assert capsys.readouterr().out == answer, query


def test_hl_smi_is_gaudis_own_where_the_backend_is_gaudi(tmp_path: pathlib.Path) -> None:
    gaudis = tmp_path / "hl-smi"
    gaudis.write_text('#!/bin/sh\necho "of the card: $*"\n')
    gaudis.chmod(0o755)
    program = (
        "import sys; sys.argv = ['/nowhere/hl-smi', '-L']\nfrom habana_frameworks.tensorflow import cli\ncli.hl_smi()"
    )
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(ROOT), "HPU_MODULE_LOCK_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**environment, "HPU_BACKEND": backend},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for backend in ("gaudi", "emulator")
    ]
    assert outputs[0] == "of the card: -L\n"
    assert outputs[1].startswith("module 0: ")


def test_a_tree_has_the_commands_of_the_package() -> None:
    assert {
        name: getattr(cli, function) for name, module, function in link_tree.commands() if module == cli.__name__
    } == {
        "hpu": cli.main,
        "hl-smi": cli.hl_smi,
    }
