"""One thing changed: what may be varied while a step is executed again, one intervention a file."""
