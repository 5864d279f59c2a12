# Sourced by tests/cli/*.sh that end at their first failure; $work is their folder.
fail() { echo "FAILED: $*" >&2; exit 1; }
# has TEXT WANTED, lacks TEXT UNWANTED. Of a "$(command)" as TEXT bash still knows the exit code here: one that crashed has said nothing.
# Behind a pipe nobody would know: `command | grep -q UNWANTED && fail` is content with a crash.
has() {
    [ $? = 0 ] || fail "the command that gives this failed: $1"
    printf '%s' "$1" | grep -qF -- "$2" || fail "wanted '$2' in: $1"
}
lacks() {
    [ $? = 0 ] || fail "the command that gives this failed: $1"
    case $1 in *"$2"*) fail "'$2' was not wanted in: $1" ;; esac
}
refused() { # EXIT TEXT -- COMMAND...: that exit code, one line on stderr, the text in it
    wanted=$1 text=$2 code=0
    shift 3
    "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    [ $code = "$wanted" ] || fail "exit $wanted was wanted, $code came: $* : $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "one line was wanted: $* : $(cat "$work/err")"
    has "$(cat "$work/err")" "$text"
}
