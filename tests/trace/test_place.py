"""Where a finding points to."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.place import Place


def test_it_survives_json_and_everything_may_be_unknown():
    place = Place(module="fc", frame=Frame(file="/a/train.py", line=3), sample_index=(1, 2))
    assert msgspec.json.decode(msgspec.json.encode(place), type=Place) == place
    assert Place() == msgspec.json.decode(b"{}", type=Place)
