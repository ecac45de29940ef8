"""Questions about devices, ranks, memory and replicas."""
