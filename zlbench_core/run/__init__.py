"""Starts processes, holds devices and prepares what a run needs."""
