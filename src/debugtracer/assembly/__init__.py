"""The composition root: three builders make the parts of a session and compute nothing."""
