"""The composition root: four builders make the parts of a session and compute nothing."""
