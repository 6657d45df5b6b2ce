#!/usr/bin/env bash
# Stands for the programs that a page of the documentation starts, under their names: ours are really started, what runs for long
# in the background until the page is done; what needs a cluster, a registry or another system is looked at only. The folder
# $STATE keeps what was started; the programs are in $REAL, the repository is $TREE.
set -uo pipefail
name=${0##*/}
fail() {
	echo "$name: $*" >&2
	exit 1
}

# exists FILE: what a command names of the repository is there.
exists() { [ -e "$1" ] || [ -e "$TREE/$1" ] || fail "there is no $1"; }

# stop EXCEPT: ends what was started, but for those whose kind is EXCEPT.
stop() {
	local f
	for f in "$STATE"/server.*; do
		[ -e "$f" ] || continue
		if [ -n "$1" ] && [ "$(cat "$f")" = "$1" ]; then continue; fi
		kill "${f##*.}" 2>/dev/null
		while kill -0 "${f##*.}" 2>/dev/null; do sleep 0.02; done
		rm -f "$f"
	done
}

# serve ARGUMENT...: starts what runs until it is ended, and waits until it says where it listens. Where its port is taken by one
# that the page has started before, or by one that was there at its beginning, that gives way, as it would have to.
serve() {
	local log pid rc try
	for try in none before ""; do
		[ "$try" = none ] || stop "$try"
		log=$(mktemp "$STATE/log.XXXXXX")
		# What the reader's terminal would be keeps it: it must not hold the pipe that this script's caller reads.
		"$REAL/$name" "$@" >"$log" 2>&1 </dev/null &
		pid=$!
		while kill -0 "$pid" 2>/dev/null; do
			if grep -qE 'listening on|http://|https://' "$log"; then
				echo "${BEFORE:-page}" >"$STATE/server.$pid"
				cat "$log"
				exit 0
			fi
			sleep 0.02
		done
		wait "$pid"
		rc=$?
		grep -qE 'address already in use|port in use' "$log" || break
	done
	cat "$log" >&2
	exit "$rc"
}

case $name in
hip-worker | gpu-exporter | smi-remote | rocwire-slurm | rocwire-dra)
	args=()
	for a in "$@"; do [ "$a" = … ] || args+=("$a"); done # further flags, whatever they are
	if [ -n "${PARSE_ONLY-}" ]; then
		exec "$REAL/$name" "${args[@]}" --help >/dev/null
	fi
	case $name-${args[0]-} in
	hip-worker-keys | hip-worker-token | *-completion | *-version | *-help) ;;
	hip-worker-* | gpu-exporter-*) serve "${args[@]}" ;;
	smi-remote-top) # until somebody presses q
		printf -v line '%q ' "$REAL/$name" "${args[@]}"
		(sleep 1 && printf q) | script -qec "$line" /dev/null >"$STATE/top" || fail "$(cat "$STATE/top")"
		exit 0
		;;
	smi-remote-events)
		"$REAL/$name" "${args[@]}" >"$STATE/events" 2>&1 </dev/null &
		echo page >"$STATE/server.$!"
		exit 0
		;;
	smi-remote-watch) args=(watch --count 2 "${args[@]:1}") ;;
	esac
	exec "$REAL/$name" "${args[@]}"
	;;
sudo) exec "$@" ;;
xdg-open) curl -fsS "$1" >/dev/null || fail "$1 is not there" ;;
make) /usr/bin/make -C "$TREE" -n "$@" >/dev/null || fail "there is no such target" ;;
git)
	[ "$*" = "clone https://github.com/rocwire/rocwire" ] || fail "what is $*?"
	ln -s "$TREE" rocwire
	;;
go)
	case $1 in
	install)
		for a in "${@:2}"; do
			a=${a#github.com/rocwire/rocwire/}
			exists "${a%@latest}/main.go"
		done
		;;
	test)
		dir=$2
		shift 2
		while [ $# -gt 0 ]; do
			case $1 in
			-run) grep -qE "^func $2" "$TREE/$dir"/*_test.go || fail "$dir has no $2" ;;
			-timeout) ;;
			-rewrite) grep -qE '"rewrite"' "$TREE/$dir"/*_test.go || fail "$dir has no $1" && set -- "$1" "" "${@:2}" ;;
			-*) grep -qE "\"${1#-}\"" "$TREE/$dir"/*_test.go || fail "$dir has no $1" ;;
			esac
			shift 2 || break
		done
		;;
	*) fail "what is $*?" ;;
	esac
	;;
dpkg)
	for a in "${@:2}"; do grep -qE "^packages=.*\b${a%%_*}\b" "$TREE/scripts/release.sh" || fail "there is no package $a"; done
	;;
systemctl) exists "deploy/systemd/${!#}.service" ;;
docker | kubectl | helm)
	for a in "$@"; do
		a=${a#--from-file=}
		a=${a#*.crt=}
		a=${a%%:/*}
		case $a in
		http*) ;;
		ca.crt | tokens.yaml | deploy/* | dashboards/* | scripts/* | keys/* | "$PWD"/*)
			exists "$a"
			;;
		[A-Z]*=*) # docker build --build-arg NAME=VALUE
			[ "$1" = build ] || continue
			grep -qrE "^ARG ${a%%=*}\b" "$TREE/deploy/docker" || fail "no container file takes ${a%%=*}"
			;;
		esac
	done
	;;
fetch_debian.sh) ;;
*) fail "nothing stands for it" ;;
esac
