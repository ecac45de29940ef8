"""What is done about a bad step in modes val and prod: one file a response, the smallest intrusion first."""
