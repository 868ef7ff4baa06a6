"""The faces of Trivium. Each is thin: parse, one engine call, render."""
