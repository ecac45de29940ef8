"""What you type: one command a file."""
