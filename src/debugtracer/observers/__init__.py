"""What listens to the events of a step and emits facts; in folders by subject."""
