#!/bin/sh
# `quipu index`, `delete` and publishing killed at random moments: see kill.py. $QUIPU_KILLS (12): how many.
exec python3 "$(dirname "$0")/kill.py" "${QUIPU_KILLS:-12}" "${QUIPU_SEED:-1}"
