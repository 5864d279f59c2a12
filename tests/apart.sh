# Sourced by tests/cli/*.sh that run in a folder of their own, $work, which is gone at the end; $notes are four short texts.
notes=$(cd "$(dirname "$0")/../data/notes" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../refused.sh"
cd "$work"
