"""`python -m trivium` is the command line."""

from trivium.interfaces.cli.main import run

run()
