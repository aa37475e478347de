"""Compares two archives of generated code."""
