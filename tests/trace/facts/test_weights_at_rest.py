"""A changed value as a value."""

from __future__ import annotations

import math

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.number import as_float
from tests.checks.device.test_weight_mutation import change


def test_it_survives_the_disk_also_when_the_value_is_infinite():
    one = msgspec.structs.replace(change(), after="Infinity")
    again = from_plain("weights-at-rest/ValueChanged", msgspec.json.decode(msgspec.json.encode(to_plain(one))))
    assert again == one
    assert as_float(again.after) == math.inf


def test_each_event_is_news():
    assert change(40).key() != change(41).key()
