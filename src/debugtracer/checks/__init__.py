"""What is wrong: one check a file, pure functions of a window, in folders by layer. Imports no torch."""
