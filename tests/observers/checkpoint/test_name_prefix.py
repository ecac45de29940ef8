"""The prefix by which names differ."""

from __future__ import annotations

from debugtracer.observers.checkpoint.name_prefix import NamePrefix, fitted, is_swapped, name_prefix, parted

OWN = {f"{layer}.{name}": shape for layer in "012" for name, shape in (("weight", (4, 4)), ("bias", (4,)))}


def test_what_stands_before_the_part_in_common():
    assert parted("module.fc.weight", "fc.weight") == ("module.", "")
    assert parted("encoder.0.weight", "backbone.0.weight") == ("encoder.", "backbone.")
    assert parted("a.weight", "a.bias") == ("a.weight.", "a.bias.")


def test_a_prefix_too_many_too_few_or_another():
    assert name_prefix({f"module.{name}": shape for name, shape in OWN.items()}, OWN) == NamePrefix("module.", "", 6)
    assert name_prefix(OWN, {f"net.{name}": shape for name, shape in OWN.items()}) == NamePrefix("", "net.", 6)
    a, b = ({f"{p}.{name}": shape for name, shape in OWN.items()} for p in ("old", "new"))
    assert name_prefix(a, b) == NamePrefix("old.", "new.", 6)


def test_shapes_must_fit():
    assert name_prefix({f"module.{name}": (9, 9) for name in OWN}, OWN) is None


def test_a_wrapper_inside_is_no_other_part():
    own = {f"encoder.{name}": shape for name, shape in OWN.items()}
    given = {f"encoder.module.{name}": shape for name, shape in OWN.items()}
    prefix = name_prefix(given, own)
    assert prefix == NamePrefix("encoder.module.", "encoder.", 6)
    assert fitted(given, own, prefix.removed, prefix.added) == list(own)
    assert not is_swapped(prefix)
    assert not is_swapped(NamePrefix("module.", "", 6))
    assert is_swapped(NamePrefix("old.", "new.", 6))
