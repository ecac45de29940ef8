"""A record of which nothing is left, as it is stored."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.emptied_record import EmptiedRecord


def test_it_comes_back_from_json():
    found = EmptiedRecord(
        index=77, frame=Frame("data.py", 33), expression="[ids[w] for w in words]", left="an empty list"
    )
    assert msgspec.json.decode(msgspec.json.encode(found), type=EmptiedRecord) == found
