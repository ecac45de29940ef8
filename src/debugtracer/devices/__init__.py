"""Whose memory and kernels: what a backend of torch calls its generators, memory, events and overflow flag, one kind a file."""
