"""`stats`, `reembed`, `reindex`, `verify`, `doctor`: the work of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from trivium.interfaces.cli.flags import Common, takes_flags
from trivium.interfaces.cli.output import progress_bar
from trivium.interfaces.cli.session import session

if TYPE_CHECKING:
    from trivium.record import Json
    from trivium.store.contract import Epoch, Finding

FOUND = 1  # exit code: it ran well, and something is wrong


def register(app: typer.Typer) -> None:
    app.command(epilog="\b\nExample:\n  trivium stats --json")(takes_flags(stats))
    app.command(epilog="\b\nExample:\n  trivium reembed --embedder onnx:/models/e5")(takes_flags(reembed))
    app.command(epilog="\b\nExample:\n  trivium reindex")(takes_flags(reindex))
    app.command(epilog="\b\nExample:\n  trivium verify && echo clean")(takes_flags(verify))
    app.command(epilog="\b\nExample:\n  trivium doctor")(takes_flags(doctor))


def stats(ctx: typer.Context, common: Common) -> None:
    """Sizes of the store: spaces, kinds, vectors, bytes."""
    with session(ctx, common) as s:
        from trivium.interfaces.cli import render

        store = s.memory.store
        spaces, epochs = s.memory.spaces(), store.epochs()
        pending = sum(store.pending_count(epoch.fingerprint) for epoch in epochs if epoch.serving)
        sums = {
            "memories": sum(facts.memories for facts in spaces),
            "superseded": sum(facts.superseded for facts in spaces),
            "sensitive": sum(facts.sensitive for facts in spaces),
            "passages": sum(facts.passages for facts in spaces),
            "pending": pending,
            "size_bytes": store.size_bytes(),
        }
        kinds = list(store.kinds(()))
        models = ", ".join(f"{epoch.model} ({epoch.dimension} numbers)" for epoch in epochs) or "none"
        names: list[Json] = [facts.name for facts in spaces]
        s.answer(
            {
                **sums,
                "spaces": names,
                "kinds": [*kinds],
                "epochs": _epochs(epochs),
                "analyzer": store.analyzer_version(),
            },
            lambda: [
                render.table(
                    ("", ""),
                    (
                        *((name.replace("_", " "), f"{count:,}") for name, count in sums.items()),
                        ("spaces", ", ".join(facts.name for facts in spaces)),
                        ("kinds", ", ".join(kinds)),
                        ("vectors by", models),
                    ),
                )
            ],
        )


def reembed(ctx: typer.Context, common: Common) -> None:
    """Give every memory a vector of the embedder in effect, then let those serve. Can be interrupted and run again."""
    with session(ctx, common) as s:
        with progress_bar("embedding") as progress:
            done = s.memory.reembed(progress)
        s.answer(
            {"memories": done.memories, "epoch": done.fingerprint, "flipped": done.flipped},
            lambda: [f"embedded {done.memories}" + ("; the new vectors serve now" if done.flipped else "")],
        )


def reindex(ctx: typer.Context, common: Common) -> None:
    """Analyse every memory again with this version's analyzer. Vectors stay."""
    with session(ctx, common) as s:
        with progress_bar("indexing") as progress:
            done = s.memory.upkeep.reindex(progress)
        s.answer({"memories": done}, lambda: [f"indexed {done}"])


def verify(ctx: typer.Context, common: Common) -> int:
    """Prove by reading that the store keeps its promises. Ends with 1 where it does not."""
    with session(ctx, common) as s:
        from trivium.interfaces.cli import render

        findings = s.memory.upkeep.verify()
        s.answer({"findings": _findings(findings)}, lambda: render.finding_lines(findings))
        return FOUND if findings else 0


def doctor(ctx: typer.Context, common: Common) -> int:
    """What is wrong and the command that mends it, and how well the vectors are searched. Ends with 1 on findings."""
    with session(ctx, common) as s:
        from trivium.interfaces.cli import render

        health = s.memory.health()
        recall = [one for one in health.recall if one.samples]
        s.answer(
            {
                "findings": _findings(health.findings),
                "pending": health.pending,
                "size_bytes": health.size_bytes,
                "epochs": _epochs(health.epochs),
                "recall": [{"space": one.space, "samples": one.samples, "recall": one.recall} for one in recall],
            },
            lambda: [
                *render.finding_lines(health.findings),
                *(f"dense recall in {one.space}: {one.recall:.3f} of {one.samples} sampled" for one in recall),
            ],
        )
        return FOUND if health.findings else 0


def _findings(findings: Sequence[Finding]) -> list[Json]:
    return [{"what": finding.what, "mend": finding.mend} for finding in findings]


def _epochs(epochs: Sequence[Epoch]) -> list[Json]:
    return [
        {"fingerprint": one.fingerprint, "model": one.model, "dimension": one.dimension, "serving": one.serving}
        for one in epochs
    ]
