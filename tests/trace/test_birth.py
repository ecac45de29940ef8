"""Facts about a birth as written."""

import msgspec
import pytest

from debugtracer.trace.birth import Birth, Frame, TensorFacts


def test_the_frame_to_edit_is_the_innermost() -> None:
    frames = (Frame("loss.py", 12), Frame("train.py", 40))
    assert Birth(op="aten::log", direction="forward", kind="domain", frames=frames).frame == frames[0]
    assert Birth(op=None, direction="input", kind="input").frame is None


def test_a_birth_survives_json_with_its_words_for_numbers() -> None:
    birth = Birth(
        op="aten::log", direction="forward", kind="domain", output=TensorFacts(values=("NaN", 1.5), nan=1), rows=(3, 5)
    )
    assert msgspec.json.decode(msgspec.json.encode(birth), type=Birth) == birth


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="sunspots"):
        msgspec.json.decode(b'{"op":null,"direction":"forward","kind":"sunspots"}', type=Birth)
