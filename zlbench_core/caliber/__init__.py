"""What two runs must share to be compared."""
