"""Evaluation sets: one folder format (`folder.py`), a converter per source, where to get them (`catalogue.py`)."""
