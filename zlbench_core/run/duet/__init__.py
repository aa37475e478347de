"""The half of a duet that runs beside both sides."""
