"""Where a training stands, kept on disk, and a program that goes on from there."""
