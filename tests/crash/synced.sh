#!/bin/sh
# What is renamed into place was synced before, and its folder after: else a power cut could leave a name without bytes.
set -eu
command -v strace >/dev/null || { echo "strace is not installed"; exit 77; }
notes=$(cd "$(dirname "$0")/../data/notes" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strace -o /dev/null true 2>/dev/null || { echo "processes may not be traced here"; exit 77; }
ASAN_OPTIONS=detect_leaks=0 strace -f -y -o "$work/calls" -e trace=fsync,fdatasync,rename,renameat,renameat2 \
    "$QUIPU" index --quiet --embedder hash -s "$work/store" "$notes" >/dev/null
python3 - "$work/calls" "$(readlink -f "$work")/store" <<'P'
import re, sys
store, synced, renamed, open_renames = sys.argv[2], set(), [], set()
for line in open(sys.argv[1]):
    if sync := re.search(r"f(?:data)?sync\(\d+<([^>]*)>\) *= 0", line):
        synced.add(sync[1])
        open_renames -= {to for to in open_renames if sync[1] == store}
    elif "rename" in line and (names := re.findall(r'"([^"]*)"', line)):
        assert names[0] in synced, f"{names[0]} was renamed unsynced"
        renamed.append(names[1])
        open_renames.add(names[1])
assert [n[len(store) + 1:] for n in renamed] == ["snapshot-1.qp", "CURRENT"], renamed
assert not open_renames, f"the folder was not synced after renaming {open_renames}"
assert any(n.endswith("truth.db-wal") or n.endswith("truth.db") for n in synced), "the truth was not synced"
P
echo ok
