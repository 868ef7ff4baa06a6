"""What `verify` looks for."""

from __future__ import annotations

from trivium.store.contract import (
    Finding,
)
from trivium.store.memory.state import State


def faults(state: State) -> list[Finding]:
    """Everything in a state that breaks a promise."""
    found: list[Finding] = []
    for fingerprint, key in state.vectors:
        row = state.rows.get(key)
        if row is None:
            found.append(Finding(f"{key.space}/{key.id} is gone and has vectors", f"trivium forget {key.id}"))
        elif row.memory.sensitive:
            found.append(Finding(f"{key.space}/{key.id} is sensitive and has vectors", "trivium reembed"))
        if (fingerprint, key) in state.pending:
            found.append(Finding(f"{key.space}/{key.id} has vectors and waits for them", "trivium reembed"))
    for fingerprint, key in state.pending:
        row = state.rows.get(key)
        if row is None or row.memory.sensitive or fingerprint not in state.epochs:
            found.append(Finding(f"{key.space}/{key.id} waits for vectors it cannot have", "trivium reembed"))
    for key, row in state.rows.items():
        for fingerprint in () if row.memory.sensitive else state.epochs:
            if (fingerprint, key) not in state.pending and (fingerprint, key) not in state.vectors:
                found.append(Finding(f"{key.space}/{key.id} has no vectors and waits for none", "trivium reembed"))
        if key in state.forgotten:
            found.append(Finding(f"{key.space}/{key.id} was forgotten and is there", f"trivium forget {key.id}"))
    if state.epochs and sum(epoch.serving for epoch in state.epochs.values()) != 1:
        found.append(Finding("not exactly one epoch serves", "trivium reembed"))
    return found
