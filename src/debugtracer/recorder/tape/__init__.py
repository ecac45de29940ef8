"""The tape of a step: what the training loop does with torch, recorded so that it can be executed again."""
