#!/bin/bash
# A store that is damaged, full, read-only or busy: one clear line, exit 4, and nothing lost once the cause is gone.
set -u
notes=$(cd "$(dirname "$0")/../data/notes" && pwd)
work=$(mktemp -d)
trap 'umount "$work/small" 2>/dev/null; chmod -R u+w "$work"; rm -rf "$work"' EXIT
good=$work/good bad=$work/bad
embedder='--quiet --embedder hash'
failed() { echo "FAILED: $*"; touch "$work/failed"; }

# refused WORD COMMAND...: exit 4, and one line on stderr that has the word
refused() {
    word=$1; shift
    "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 4 ] || failed "exit $code, wanted 4: $* -- $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" = 1 ] || failed "not one line: $* -- $(cat "$work/err")"
    grep -qF -- "$word" "$work/err" || failed "'$word' not in: $(cat "$work/err") ($*)"
}

# whole DIR: the notes are indexed again, and then all is there
whole() {
    "$QUIPU" index $embedder -s "$1" "$notes" >/dev/null 2>"$work/err" || failed "index after the trouble: $(cat "$work/err")"
    "$QUIPU" check -s "$1" >/dev/null 2>"$work/err" || failed "check after the trouble: $(cat "$work/err")"
    "$QUIPU" stats -s "$1" --json | grep -q '"documents":4,' || failed "documents were lost: $("$QUIPU" stats -s "$1" --json)"
    "$QUIPU" retrieve -s "$1" $embedder -m hybrid --json "keepers of knots" >/dev/null || failed "nothing is found"
}
fresh() { rm -rf "$bad"; cp -r "$good" "$bad"; }

"$QUIPU" index $embedder --sparse hash -o tokens=yes -s "$good" "$notes" >/dev/null || exit 1

# ---- damaged: a byte of each section flipped, the head, the table of contents ----
sections='info texts strings documents nodes types edge.from edge.to edge.type edge.weight out in in.edge both both.node vectors
    codes scales ann.level ann.upper ann.base ann.links terms blocks postings lengths norms expanded.terms expanded.blocks expanded.postings expanded.lengths learned learned.blocks learned.postings token.start token.centroid token.residual
    centroids centroid.lists centroid.blocks centroid.postings type.vectors triple.edge triple.vectors triple.codes triple.scales head.codes head.scales type.heads
    said.edge said part part.start part.member walks walk.stops'
flip() { # FILE OFFSET
    python3 - "$1" "$2" <<'P'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)[0]
    f.seek(-1, 1)
    f.write(bytes([byte ^ 4]))
P
}
places=$(python3 - "$good/snapshot-1.qp" $sections <<'P'
import struct, sys
data, names = open(sys.argv[1], "rb").read(), sys.argv[2:]
assert struct.unpack_from("<I", data, 12)[0] == len(names)
for i, name in enumerate(names):
    at, n, _ = struct.unpack_from("<QQQ", data, 32 + 24 * i)
    if n:
        print(f"{name}:{at + n // 2}")
P
)
[ "$(echo "$places" | wc -l)" -ge 20 ] || failed "too few sections: $places"
for place in $places contents:24 contents:40 contents:600; do
    fresh
    flip "$bad/snapshot-1.qp" "${place#*:}"
    refused "section '${place%:*}'" "$QUIPU" check -s "$bad"
done
whole "$bad"
fresh
flip "$bad/snapshot-1.qp" 0
refused "no snapshot of ours" "$QUIPU" check -s "$bad"
whole "$bad"

# ---- truncated, of a newer version, lost ----
bytes=$(stat -c %s "$good/snapshot-1.qp")
for n in 0 7 31 32 600 656 $((bytes / 2)) $((bytes - 1)); do
    fresh
    truncate -s $n "$bad/snapshot-1.qp"
    refused "snapshot-1.qp" "$QUIPU" retrieve -s "$bad" $embedder -m bm25 knots
done
whole "$bad"
fresh
printf '\377' | dd of="$bad/snapshot-1.qp" bs=1 seek=8 conv=notrunc status=none
refused "has format 255, this program reads format " "$QUIPU" check -s "$bad"
whole "$bad"
fresh
rm "$bad/snapshot-1.qp"
refused "snapshot-1.qp" "$QUIPU" check -s "$bad"
whole "$bad"
fresh
rm "$bad/CURRENT"
refused "no published index" "$QUIPU" check -s "$bad"
whole "$bad"
fresh
echo rubbish >"$bad/CURRENT"
refused "names no snapshot" "$QUIPU" check -s "$bad"
whole "$bad"

# ---- truth.db: damaged, of a newer version ----
fresh
python3 - "$bad/truth.db" <<'P'
import sys
with open(sys.argv[1], "r+b") as f: # a page of a table: its cells' places
    f.seek(4096 * 3 + 8)
    f.write(b"\xff" * 64)
P
refused "truth.db: is damaged" "$QUIPU" check -s "$bad"
fresh
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 99")' "$bad/truth.db"
refused "version 99" "$QUIPU" index $embedder -s "$bad" "$notes"

# ---- another embedder: refused where it would compare what cannot be compared; index makes the vectors anew ----
fresh
"$QUIPU" retrieve -s "$bad" --quiet --embedder hash:64 -m vector knots >/dev/null 2>"$work/err"
{ [ $? = 2 ] && grep -q "another embedder" "$work/err"; } || failed "another embedder: $(cat "$work/err")"
"$QUIPU" index --quiet --embedder hash:64 -s "$bad" "$notes" | grep -q "^[1-9][0-9]* texts embedded" || failed "no new vectors"
"$QUIPU" retrieve -s "$bad" --quiet --embedder hash:64 -m vector knots >/dev/null || failed "asked with the new embedder"
whole "$bad"

# ---- two at once: the first reads from a pipe that stays open ----
fresh
mkfifo "$work/pipe"
"$QUIPU" index $embedder -s "$bad" - <"$work/pipe" >/dev/null 2>&1 &
first=$!
exec 9>"$work/pipe"
for _ in $(seq 100); do [ -s "$bad/lock" ] && kill -0 $first && grep -q "^$first$" "$bad/lock" && break; sleep .05; done
refused "busy, process $first" "$QUIPU" index $embedder -s "$bad" "$notes"
refused "busy" "$QUIPU" delete -s "$bad" notes/knots.md
"$QUIPU" retrieve -s "$bad" $embedder -m bm25 knots >/dev/null || failed "a reader was blocked by the writer"
echo "a note from the pipe about vicunas" >&9
exec 9>&-
wait $first || failed "the first of two writers failed"
"$QUIPU" retrieve -s "$bad" $embedder -m bm25 vicunas >/dev/null || failed "what the first writer read was lost"

# ---- read-only: as root, rights hold only for somebody else ----
fresh
rm "$bad/lock"
chmod -R a-w,a+rX "$bad" "$work"
as_user=
if [ "$(id -u)" = 0 ]; then as_user="setpriv --reuid 65534 --regid 65534 --clear-groups"; fi
if $as_user test -x "$QUIPU" 2>/dev/null && ! $as_user test -w "$bad"; then
    chmod u+w "$work"
    refused "rights" $as_user "$QUIPU" index $embedder -s "$bad" "$notes"
    refused "rights" $as_user "$QUIPU" delete -s "$bad" notes/knots.md
    $as_user "$QUIPU" retrieve -s "$bad" $embedder -m hybrid knots >/dev/null || failed "a read-only index cannot be read"
    $as_user "$QUIPU" check -s "$bad" >/dev/null || failed "a read-only index cannot be checked"
else
    echo "read-only: left out, nobody may run $QUIPU"
fi
chmod -R u+w "$work"
whole "$bad"

# ---- full: a limit on file sizes, then a real small file system where one may be mounted ----
mkdir "$work/many"
python3 - "$work/many" <<'P'
import random, sys
draw = random.Random(1)
words = ["".join(draw.choices("abcdefghij", k=6)) for _ in range(5000)]
for i in range(60):
    with open(f"{sys.argv[1]}/m{i}.txt", "w") as f:
        f.write(" ".join(draw.choices(words, k=900)))
P
for kilobytes in 100 300 700; do
    fresh
    refused "room" bash -c "ulimit -f $kilobytes; exec \"\$@\"" limited "$QUIPU" index $embedder -o tokens=no -s "$bad" "$work/many"
    "$QUIPU" check -s "$bad" >/dev/null || failed "check after a full disk"
    "$QUIPU" stats -s "$bad" --json | grep -q '"documents":4,' || failed "the published index changed on a full disk"
done
"$QUIPU" index $embedder -o tokens=no -s "$bad" "$work/many" >/dev/null || failed "there is room again, and index fails"
"$QUIPU" stats -s "$bad" --json | grep -q '"documents":64,' || failed "not all were indexed once there was room"

mkdir "$work/small"
if mount -t tmpfs -o size=6m none "$work/small" 2>/dev/null; then
    for left in 20 200 600 1400; do # kilobytes
        rm -rf "$work/small/"*
        cp -r "$good" "$work/small/store"
        head -c $(($(df --output=avail -B1 "$work/small" | tail -1) - left * 1024)) /dev/zero >"$work/small/ballast"
        refused "room" "$QUIPU" index $embedder -o tokens=no -s "$work/small/store" "$work/many"
        "$QUIPU" check -s "$work/small/store" >/dev/null 2>"$work/err" || failed "check on a full disk: $(cat "$work/err")"
        "$QUIPU" retrieve -s "$work/small/store" $embedder -m hybrid knots >/dev/null || failed "a full disk cannot be searched"
        rm "$work/small/ballast"
        "$QUIPU" index $embedder -o tokens=no -s "$work/small/store" "$work/many" >/dev/null || failed "room again"
        "$QUIPU" stats -s "$work/small/store" --json | grep -q '"documents":64,' || failed "not all after room was made"
    done
else
    echo "small file system: left out, none may be mounted here"
fi
[ ! -e "$work/failed" ]
