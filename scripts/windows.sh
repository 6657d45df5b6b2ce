#!/usr/bin/env bash
# windows.sh [DIRECTORY]: everything for Windows (x86-64), by mingw-w64, in a folder and a zip of it; build if no DIRECTORY is named.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build}
name=rocwire-windows-amd64

mkdir -p "$out"
temp=$(mktemp -d "$out/.windows.XXXXXX")
trap 'rm -rf "$temp"' EXIT
librocwire/build_windows.sh "$temp/$name"
mkdir -p "$temp/$name/lib" "$temp/$name/include"
mv "$temp/$name"/*.lib "$temp/$name"/*.a "$temp/$name/lib/"
cp "$temp/$name/lib/amdhip64_6.lib" "$temp/$name/lib/amdhip64.lib" # what -lamdhip64 asks for
cp "$temp/$name/lib/libamdhip64_6.dll.a" "$temp/$name/lib/libamdhip64.dll.a"
cp -r hip/include/hip smiabi/include/amd_smi "$temp/$name/include/"
CGO_ENABLED=0 GOOS=windows GOARCH=amd64 "${GO:-go}" build -trimpath -ldflags "-s -w $(scripts/ldflags.sh)" -o "$temp/$name/" ./cmd/smi-remote ./cmd/gpu-exporter
cp deploy/windows/install.ps1 LICENSE "$temp/$name/"
cp docs/windows.md "$temp/$name/README.md"
"${GO:-go}" run scripts/zip.go "$temp/$name.zip" "$temp" "$name"
rm -rf "${out:?}/$name"
mv "$temp/$name" "$temp/$name.zip" "$out/"
echo "$out/$name.zip"
