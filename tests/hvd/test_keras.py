"""Horovod's Keras callbacks, and the additions to Keras programs that its documentation describes."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

from tests.hvd import keras_programs as programs
from tests.hvd.jobs import Start, run_code, run_program
from tests.support.processes import ROOT, call_to


def test_callbacks(tmp_path: pathlib.Path) -> None:
    for got in run_code(tmp_path, call_to(programs.callbacks), Start.HOROVODRUN):
        np.testing.assert_array_equal(got["broadcast"], [[2.0], [2.0]])
        # Mean of (2 * 1)^2 and (2 * 2)^2.
        np.testing.assert_allclose(got["loss"], [10.0])
        # The warm-up raises the rate from one rank's rate to the rate of all ranks together: 0.4 / 2 to 0.4.
        assert 0.2 < got["warmed"][0] < got["warmed"][1] <= 0.4 + 1e-6
        np.testing.assert_allclose(got["warmed"][2], 0.4, rtol=1e-5)
        np.testing.assert_allclose(got["scheduled"], [0.4, 0.2, 0.1], rtol=1e-5)


@pytest.mark.slow
def test_options_of_the_optimizer(tmp_path: pathlib.Path) -> None:
    for got in run_code(tmp_path, call_to(programs.options), Start.HOROVODRUN):
        for name in ("grouped", "legacy", "legacy_grouped"):
            np.testing.assert_allclose(got[name], got["plain"], rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(got["half"], got["plain"], atol=1e-2)
        np.testing.assert_allclose(got["legacy_rarely"], got["rarely"], rtol=1e-6)
        assert np.abs(got["rarely"] - got["plain"]).max() > 1e-2


def test_example(tmp_path: pathlib.Path) -> None:
    done = run_program(tmp_path, ROOT / "examples" / "digits_horovod.py", start=Start.HPU_RUN)
    found = re.search(r"2 ranks on \S*HPU:0: test loss \S+, test accuracy (\S+)%", done.stdout)
    assert found is not None, done.stdout
    assert float(found[1]) > 90
