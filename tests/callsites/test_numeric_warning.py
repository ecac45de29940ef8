"""The texts by which a warning of numpy is known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from debugtracer.callsites.numeric_warning import WORDS


@pytest.mark.parametrize(
    "program",
    [
        lambda: np.power(np.zeros(2), -1),
        lambda: np.log(np.array([-1.0])),
        lambda: np.exp(np.array([1e4])),
        lambda: np.zeros(0).mean(),
        lambda: np.zeros(1).std(ddof=1),
    ],
)
def test_numpy_words_it_so(program):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        program()
    assert told and str(told[0].message).startswith(WORDS)
