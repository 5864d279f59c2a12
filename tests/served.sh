# Sourced by tests/cli/*.sh that play a service: their folder $work and the service $server are gone at the end.
export PYTHONPATH="$(cd "$(dirname "$0")/../servers" && pwd)"
. "$(dirname "$0")/../apart.sh"
server=
trap 'kill $server 2>/dev/null || :; rm -rf "$work"' EXIT
