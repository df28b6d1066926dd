#!/usr/bin/env bash
# Builds dist/cann_bench-*.whl with nothing but a C++ compiler, torch, setuptools and wheel.
set -euo pipefail
cd "$(dirname "$0")"
python -W ignore setup.py -q bdist_wheel
