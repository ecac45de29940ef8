from __future__ import annotations

import msgspec
import pytest

from debugtracer.recorder.capsule.recorded import Recorded
from tests.recorder.steps import recorded


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("ops", 3, 0), 10**6),
        (("ops", 3, 3, 0), -1),
        (("ops", 3, 4), 77),
        (("refs", 4, 0), 10**6),
        (("refs", 4, 1), "load"),
        (("refs", 4, 3), [1]),
        (("refs", 4, 4), -8),
        (("storages", 0, 2), "Tensor"),
        (("targets", 0, 1), 10**6),
        (("labels", 0, 1), -1),
    ],
)
def test_a_number_that_points_at_nothing_is_refused(path: tuple[object, ...], value: object) -> None:
    program = msgspec.json.decode(msgspec.json.encode(recorded("tied").finish()))
    inner = program
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(ValueError, match=r"points at nothing|is no dtype|has strides"):
        msgspec.json.decode(msgspec.json.encode(program), type=Recorded).check()


def test_a_recorded_program_is_sound() -> None:
    recorded("gpt2").finish().check()
