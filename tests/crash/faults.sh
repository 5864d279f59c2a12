#!/bin/sh
# The n-th write, sync, rename, truncation or opening fails, for many n: `quipu index` says so in one line and exits with a
# documented code; the next run finishes the work, and its snapshot is the one that no failure ever touched.
set -eu
command -v strace >/dev/null || { echo "strace is not installed"; exit 77; }
strace -o /dev/null true 2>/dev/null || { echo "processes may not be traced here"; exit 77; }
notes=$(cd "$(dirname "$0")/../data/notes" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # the leak finder cannot run in a traced process
index="$QUIPU index --quiet --embedder hash --sparse hash"
failed() { echo "FAILED: $*"; exit 1; }

# A store that holds something is worth more than an empty one: every fault is tried on both.
mkdir "$work/some"
cp "$notes"/keepers.md "$notes"/knots.md "$work/some"
$index -s "$work/half" "$work/some" >/dev/null
cp -r "$work/half" "$work/clean.yes"
for before in no yes; do
    $index -s "$work/clean.$before" "$notes" >/dev/null
done

runs=0 hurt=0
# fault CALL ERROR N [FILTER...]: the N-th such call fails, and with N+ all after it
fault() {
    call=$1 error=$2 when=$3
    shift 3
    rm -rf "$work/store"
    [ "$before" = no ] || cp -r "$work/half" "$work/store"
    code=0
    strace -f -qq -o /dev/null "$@" -e trace="$call" -e inject="$call:error=$error:when=$when" \
        $index -s "$work/store" "$notes" >"$work/out" 2>"$work/err" || code=$?
    what="$call $error $when ($before before): exit $code: $(cat "$work/err")"
    runs=$((runs + 1))
    case $code in
    0) if grep -qv '^quipu: ' "$work/err"; then failed "what it said is no warning: $what"; fi ;;
    2 | 4) hurt=$((hurt + 1)); [ "$(wc -l <"$work/err")" = 1 ] || failed "not one line: $what" ;;
    *) failed "$what" ;;
    esac
    # What was there before is still found, whatever happened.
    [ "$before" = no ] || "$QUIPU" retrieve -s "$work/store" -m bm25 Cusco >/dev/null 2>"$work/err" ||
        failed "the old index is lost: $what; $(cat "$work/err")"
    $index -s "$work/store" "$notes" >/dev/null 2>"$work/err" || failed "the next run: $(cat "$work/err"); after $what"
    "$QUIPU" check -s "$work/store" >/dev/null 2>"$work/err" || failed "check: $(cat "$work/err"); after $what"
    clean="$work/clean.$before"
    cmp -s "$clean/$(cat "$clean/CURRENT")" "$work/store/$(cat "$work/store/CURRENT")" ||
        failed "another snapshot came out: after $what"
    [ -z "$(find "$work/store" -name '*.tmp')" ] || failed "left behind: $(ls "$work/store"); after $what"
}

for before in no yes; do
    for n in 1 2 3 4 6 9 14 20+ 1+; do
        fault pwrite64 ENOSPC "$n"
        fault fdatasync,fsync EIO "$n"
    done
    for n in 1 2 3; do
        fault write ENOSPC "$n" # not all: then the error could not be told either
    done
    for n in 1 2 3 1+; do
        fault ftruncate EIO "$n"
        fault rename,renameat,renameat2 EIO "$n"
        fault unlink,unlinkat EACCES "$n"
    done
    for file in truth.db truth.db-wal snapshot-1.qp.tmp snapshot-2.qp.tmp snapshot-1.qp CURRENT lock; do
        fault openat EMFILE 1+ -P "$work/store/$file"
    done
    fault openat EMFILE 1 -P "$work/store"
    fault openat EMFILE 1+ -P "$notes/knots.md"
    fault mmap ENOMEM 1+ -P "$work/store/snapshot-1.qp"
done
echo "$runs runs, $hurt of them with an error told"
