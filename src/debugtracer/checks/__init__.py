"""What is wrong: pure judges of a window, one question a file, in rooms by layer. Imports no torch."""
