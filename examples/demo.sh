#!/bin/sh
# A tour in one minute: `make demo`. Makes demo.db in the root of the repository; run it again at will.
set -eu
cd "$(dirname "$0")/.."

demo() { # print a command as one would type it, then run it
    printf '\n$ trivium --db demo.db'
    for word; do
        case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    trivium --db demo.db "$@"
}

rm -rf demo.db demo.db-*

echo "The memory of a small software team: films, notes, logs, meetings, tasks and chats, in five languages:"
demo import examples/sample/corpus.jsonl

printf '\n1. By words and by meaning, in Portuguese, among films only.\n'
demo search "filmes de ficção científica" --kind movie --limit 4 --explain

printf '\n2. Filters hold before the ranking, not after it.\n'
demo search "why did the deploy fail" --since 2026-01-01 --tag infra --limit 3 --explain

printf '\n3. A word that is not in this memory is looked up among those that are.\n'
demo search matriz --limit 1 --explain

printf '\n4. A message is found by what was said around it: the van is for the piano.\n'
demo search "who can carry the piano" --limit 3 --explain

printf '\nAnd why something was not found: Ada has moved, so what was known before is superseded.\n'
demo why "where does Ada live" fact-ada-berlin

cat <<'END'

Where to go next:
  .venv/bin/trivium --db demo.db search "..."    this memory is yours to play with
  .venv/bin/trivium --help                       every command; docs/cli.md has the details
  docs/python.md                                 the same from Python
  docs/architecture.md                           how it works, in ten minutes
END
