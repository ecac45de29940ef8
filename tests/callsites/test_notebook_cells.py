"""Names of cells: outside a notebook a file is a file. The rest is shown in a real kernel
(tests/integrations/test_cells.py)."""

from __future__ import annotations

import os

from debugtracer.callsites import notebook_cells as cells
from debugtracer.callsites.construction import is_user_file


def test_a_file_is_named_by_its_absolute_path_and_made_up_names_stay():
    assert cells.file_of("train.py") == os.path.abspath("train.py")
    assert cells.file_of("<string>") == "<string>" and cells.cell_of("train.py") == ""


def test_a_cell_under_a_timing_magic_is_code_of_the_user():
    assert is_user_file("<timed exec>") and is_user_file("<ipython-input-3-abc>") and not is_user_file("<string>")


def test_a_cell_is_old_only_when_the_same_cell_ran_again(monkeypatch):
    monkeypatch.setattr(cells, "_ids", {})
    monkeypatch.setattr(cells, "_newest", {})
    cells.ran(3, "a")
    cells.ran(4, "b")
    cells.ran(5, None)
    assert cells.edited("In[3]") == cells.edited("In[5]") == cells.edited("train.py") == ""
    cells.ran(9, "a")
    assert cells.edited("In[3]") == (
        "In[3] has been edited and run again as In[9], but the object that ran here was made by the old text: make it "
        "again"
    )
    assert cells.edited("In[9]") == cells.edited("In[4]") == ""
