"""Begins a campaign and mends what a broken one left."""
