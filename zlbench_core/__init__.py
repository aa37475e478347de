"""zlbench: A/B measurement of accelerator operators that refuses to compare what is not comparable."""

__version__ = "0.1.0"
