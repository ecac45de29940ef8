"""A birth in the data pipeline as it is stored."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame, TensorFacts
from debugtracer.trace.pipeline_birth import PipelineBirth


def test_it_comes_back_from_json():
    born = PipelineBirth(
        index=211,
        kind="spread",
        frame=Frame("train.py", 12),
        inputs=(TensorFacts(name="spread", values=(0.0, "NaN")),),
        value="Infinity",
    )
    assert msgspec.json.decode(msgspec.json.encode(born), type=PipelineBirth) == born
