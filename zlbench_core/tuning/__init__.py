"""The half of tuning that runs in a benchmark process."""
