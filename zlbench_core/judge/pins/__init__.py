"""Reads and shows sets of pins."""
