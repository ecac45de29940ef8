"""Questions about what is logged and what the log hides."""
