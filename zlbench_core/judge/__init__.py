"""Reads finished runs and says what they show."""
