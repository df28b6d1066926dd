#!/bin/sh
# Judge a submission; takes the options of `kernel-eval eval`. Exit codes: see `kernel-eval --help`.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
program="$root/.venv/bin/kernel-eval"
[ -x "$program" ] || program=kernel-eval
case "${1:-}" in
  eval | list | info | config | --action*) exec "$program" "$@" ;;
  *) exec "$program" eval "$@" ;;
esac
