"""What the hooks report to, and where it goes: recorder, gate, observers, or the little that a resting step keeps."""
