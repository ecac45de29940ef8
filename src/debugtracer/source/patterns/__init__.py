"""What is looked for: one pattern a file."""
