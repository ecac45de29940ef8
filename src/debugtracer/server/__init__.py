"""The page, served while a run trains: runs and their panels over HTTP, what is new as server-sent events."""
