"""What two processes agree on: a run's identity, its environment's names, their messages."""
