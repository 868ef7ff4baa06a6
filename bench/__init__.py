"""Benchmarks of Trivium, run as `python -m bench`. Not part of the wheel."""
