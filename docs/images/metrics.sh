#!/usr/bin/env bash
# Makes metrics.jpg: one picture changed in three ways of nearly the same PSNR, with the figures of clpix compare.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
run() { clpix "$@" --quiet; }
run tonemap ../../samples/courtyard.exr -o "$work/whole.png"
run crop "$work/whole.png" --region 520,120,260,220 -o "$work/original.png"
run blur "$work/original.png" --sigma 1.28 -o "$work/blurred.png"
python noise.py "$work/original.png" "$work/noise.png" 19
run grade "$work/original.png" --exposure 0.39 -o "$work/brighter.png"
for way in blurred noise brighter; do
  clpix compare "$work/original.png" "$work/$way.png" --json --metric psnr --metric ssim --metric flip --metric de2000 --metric ssimulacra2 >"$work/$way.json" || [ $? = 1 ]
done
python side_by_side.py "$work" metrics.jpg original blurred noise brighter
