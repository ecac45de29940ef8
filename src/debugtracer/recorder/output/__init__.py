"""What leaves the process: the run folder, its writer, the heartbeat of the rank."""
