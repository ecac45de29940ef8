"""A step, or the last steps, executed again with one thing changed."""
