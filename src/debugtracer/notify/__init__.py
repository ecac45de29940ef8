"""What leaves the machine because somebody asked for it: one line to a person who is not there."""
