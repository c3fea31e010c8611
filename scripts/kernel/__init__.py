"""Holds the parts of scripts/kernels, which boots kernels of other architectures and asks them about filters (README.md)."""
