"""The checks asked: live, at the end of a run, and of a stored run."""
