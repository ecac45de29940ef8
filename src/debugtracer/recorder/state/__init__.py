"""State that a replay needs: copies of parameters, buffers, generators, and the ring of snapshots."""
