"""One number in every row of a batch."""

from __future__ import annotations

import msgspec

from debugtracer.trace.batch_setting import BatchSetting
from debugtracer.trace.birth import Frame

SET = Frame("/a/reach.py", 25, "describe", "self.roughness = 0.0")


def test_it_says_what_holds_the_number_and_which_lines_wrote_it():
    setting = BatchSetting(
        name="batch['reach']",
        column=4,
        value=0.0,
        rows=32,
        stored="Reaches.rows",
        stored_rows=960,
        written=Frame("/a/reach.py", 17),
        frame=SET,
    )
    assert setting.because == (
        "column 4 of batch['reach'] is 0 in all 960 rows of Reaches.rows: a setting, not a bad row "
        "(written at reach.py:17, set at reach.py:25)"
    )
    assert msgspec.json.decode(msgspec.json.encode(setting), type=BatchSetting) == setting


def test_one_line_is_said_once_and_none_is_made_up():
    whole = BatchSetting(name="batch['t']", value=-1.5, rows=32, written=SET, frame=SET)
    assert whole.because == (
        "batch['t'] is -1.5 in all 32 rows of the batch: a setting, not a bad row (set at reach.py:25)"
    )
    assert whole.where == "batch['t']"
    assert BatchSetting(name="batch[1]", value=0.0, rows=8).because.endswith("a bad row")
