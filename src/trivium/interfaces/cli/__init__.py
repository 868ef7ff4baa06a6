"""The command line. `main.py` runs it; each other file holds the commands of one kind of work."""
