#!/bin/sh
# Run by packages after they came or went: systemd reads its units again, where it runs. Nothing is started or
# enabled, and what runs is not stopped: an operator says so.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
