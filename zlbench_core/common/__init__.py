"""What every room may use, and which uses none of them."""
