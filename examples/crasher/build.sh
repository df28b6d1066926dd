#!/usr/bin/env bash
# Packs a wheel of pure Python; nothing is compiled.
set -euo pipefail
cd "$(dirname "$0")"
python -W ignore setup.py -q bdist_wheel
