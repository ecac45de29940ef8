"""Observers of the program itself: its crash, its seeds, its log."""
