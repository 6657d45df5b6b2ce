#!/usr/bin/env bash
# release.sh [--deb] [DIRECTORY]: what is given out, in dist if no DIRECTORY is named: packages for Debian and its kin and for RPM's
# (x86-64), archives, the Helm chart, a list of what is in them (SBOM) and checksums. Two runs on the same commit are identical, wherever it lies.
# With --deb only the packages for Debian, to try them.
#
# The version is what scripts/ldflags.sh says. smi-remote and gpu-exporter are of Go alone; the rest is linked with this machine's C
# library, and needs that or a later one: build on the oldest system that is to be served.
set -euo pipefail
cd "$(dirname "$0")/.."
kinds=(deb rpm)
if [ "${1-}" = --deb ]; then
	kinds=(deb)
	shift
fi
NFPM=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4 # later ones need modules that not every proxy has
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH ROCWIRE_RELEASE=1 LC_ALL=C TZ=UTC GOFLAGS="${GOFLAGS-} -trimpath -buildvcs=false" GOARCH=amd64
umask 022
stamp=$(scripts/ldflags.sh)
version=${stamp##*=v}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
n=0
of=$((${#kinds[@]} == 1 ? 5 : 7))
step() { n=$((n + 1)) && printf '[%d/%d] %s\n' "$n" "$of" "$*"; }

step "programs, $version"
mkdir -p "$stage/bin" "$stage/lib" "$stage/docs" "$stage/tools"
CGO_ENABLED=0 go build -ldflags "-s -w $stamp" -o "$stage/bin/" ./cmd/smi-remote ./cmd/gpu-exporter ./cmd/rocwire-slurm ./cmd/rocwire-dra
CGO_ENABLED=1 go build -ldflags "-s -w $stamp" -o "$stage/bin/" ./cmd/hip-worker ./cmd/hip-session # which open a card's libraries
step "libraries"
librocwire/build.sh "$stage/lib" >/dev/null
provider/libaccelerator_amd/build.sh "$stage/lib" >/dev/null
step "manual pages and completions"
go build -tags docs -ldflags "$stamp" -o "$stage/tools/" ./cmd/hip-worker ./cmd/smi-remote ./cmd/gpu-exporter ./cmd/rocwire-slurm ./cmd/rocwire-dra
for p in hip-worker smi-remote gpu-exporter rocwire-slurm rocwire-dra; do
	HOME=/root XDG_CONFIG_HOME='' env -u TF_WORKER_HOST -u TF_WORKER_PORT "$stage/tools/$p" docs "$stage/docs"
done
cp deploy/packages/hip-session.1 "$stage/docs/man1/"
gzip -9n "$stage"/docs/man1/*

# put PACKAGE MODE TO FILE...
put() {
	local to=$stage/$1$3 mode=$2
	mkdir -p "$to"
	install -m "$mode" "${@:4}" "$to/"
}
# said PACKAGE PROGRAM: what tells of it.
said() {
	put "$1" 644 /usr/share/man/man1 "$stage/docs/man1/$2".1.gz
	find "$stage/docs/man1" -name "$2-*" -exec install -m 644 -t "$stage/$1/usr/share/man/man1" {} +
	put "$1" 644 /usr/share/bash-completion/completions "$stage/docs/bash/$2"
	put "$1" 644 /usr/share/zsh/vendor-completions "$stage/docs/zsh/_$2"
	put "$1" 644 /usr/share/fish/vendor_completions.d "$stage/docs/fish/$2.fish"
}
step "what each package has"
put rocwire-worker 755 /usr/lib/rocwire "$stage/bin/hip-worker" "$stage/bin/hip-session"
mkdir -p "$stage/rocwire-worker/usr/bin"
ln -s ../lib/rocwire/hip-worker "$stage/rocwire-worker/usr/bin/hip-worker"
put rocwire-worker 644 /usr/lib/systemd/system deploy/systemd/hip-worker.service
put rocwire-worker 644 /etc/rocwire deploy/packages/worker.yaml
said rocwire-worker hip-worker
put rocwire-worker 644 /usr/share/man/man1 "$stage/docs/man1/hip-session.1.gz"
put rocwire-client 755 /usr/bin "$stage/bin/smi-remote" "$stage/bin/rocwire-slurm"
put rocwire-client 644 /usr/lib/rocwire "$stage"/lib/librocwire.so "$stage"/lib/libamdhip64.so.[67] "$stage"/lib/libamd_smi.so.27 "$stage"/lib/librocm_smi64.so.1
put rocwire-client 644 /usr/lib/rocwire/hsa "$stage/lib/hsa/libhsa-runtime64.so.1"
ln -s libamdhip64.so.6 "$stage/rocwire-client/usr/lib/rocwire/libamdhip64.so"
ln -s libamd_smi.so.27 "$stage/rocwire-client/usr/lib/rocwire/libamd_smi.so"
ln -s librocm_smi64.so.1 "$stage/rocwire-client/usr/lib/rocwire/librocm_smi64.so"
put rocwire-client 644 /usr/share/rocwire deploy/packages/rocwire.conf
said rocwire-client smi-remote
said rocwire-client rocwire-slurm
put rocwire-exporter 755 /usr/bin "$stage/bin/gpu-exporter"
put rocwire-exporter 644 /usr/lib/systemd/system deploy/systemd/gpu-exporter.service
put rocwire-exporter 644 /etc/rocwire deploy/packages/exporter.yaml
said rocwire-exporter gpu-exporter
put rocwire-dra 755 /usr/bin "$stage/bin/rocwire-dra"
put rocwire-dra 644 /usr/share/rocwire/dra deploy/dra/kubernetes.yaml
said rocwire-dra rocwire-dra
put libaccelerator-amd 644 /usr/lib/rocwire "$stage/lib/libaccelerator_amd.so"

declare -A about=(
	[rocwire-worker]="serve AMD GPUs, or simulated ones, to HIP programs on other machines"
	[rocwire-client]="run HIP programs and amd-smi on GPUs of other machines"
	[rocwire-exporter]="metrics of AMD GPUs and of who uses them"
	[rocwire-dra]="hand AMD GPUs of other machines to pods by Kubernetes' Dynamic Resource Allocation"
	[libaccelerator-amd]="TensorFusion's accelerator interface for AMD GPUs"
)
packages=(rocwire-worker rocwire-client rocwire-exporter rocwire-dra libaccelerator-amd)
for p in "${packages[@]}"; do
	put "$p" 644 "/usr/share/doc/$p" LICENSE
	printf '%s\n' 'Upstream-Name: rocwire' 'Source: https://github.com/rocwire/rocwire' 'License: Apache-2.0, whole in LICENSE beside this file' >"$stage/$p/usr/share/doc/$p/copyright"
	find "$stage/$p" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
done

step "packages"
GOBIN="$stage/tools" go install "$NFPM"
cp deploy/packages/systemd.sh "$stage/tools/"
rm -f "$out"/rocwire[-_]* "$out"/libaccelerator-amd[-_]* "$out/SHA256SUMS"
for p in "${packages[@]}"; do
	{
		printf 'name: %s\narch: amd64\nplatform: linux\nversion: %s\nversion_schema: semver\n' "$p" "$version"
		printf 'section: utils\npriority: optional\nmaintainer: The rocwire authors <rocwire@users.noreply.github.com>\n'
		printf 'description: %s\nhomepage: https://github.com/rocwire/rocwire\nlicense: Apache-2.0\nrpm:\n  buildhost: rocwire\n' "${about[$p]}"
		case $p in
		rocwire-worker | rocwire-client | libaccelerator-amd) printf 'overrides:\n  deb:\n    depends: ["libc6 (>= 2.34)"]\n' ;;
		esac
		case $p in
		rocwire-worker | rocwire-exporter) printf 'scripts:\n  postinstall: %s\n  postremove: %s\n' "$stage/tools/systemd.sh" "$stage/tools/systemd.sh" ;;
		esac
		printf 'contents:\n'
		(cd "$stage/$p" && find . -type f -o -type l | sort) | while read -r f; do
			f=${f#.}
			if [ -L "$stage/$p$f" ]; then
				printf -- '- {src: "%s", dst: "%s", type: symlink}\n' "$(readlink "$stage/$p$f")" "$f"
			elif [ "${f#/etc/}" != "$f" ]; then
				printf -- '- {src: "%s", dst: "%s", type: config|noreplace}\n' "$stage/$p$f" "$f"
			elif [ "${f#/usr/share/zsh/vendor-completions/}" != "$f" ]; then # as Debian calls what others call site-functions
				printf -- '- {src: "%s", dst: "%s", packager: deb}\n' "$stage/$p$f" "$f"
				printf -- '- {src: "%s", dst: "/usr/share/zsh/site-functions/%s", packager: rpm}\n' "$stage/$p$f" "${f##*/}"
			else
				printf -- '- {src: "%s", dst: "%s"}\n' "$stage/$p$f" "$f"
			fi
		done
		# RPM removes a folder only if a package says that it is its own; dpkg asks nobody.
		(cd "$stage/$p" && find . -type d | sort) | while read -r f; do
			f=${f#.}
			case $f in
			*/rocwire | */rocwire/* | "/usr/share/doc/$p" | /usr/share/fish*) ;;
			/usr/share/zsh*) f=${f/vendor-completions/site-functions} ;;
			*) continue ;;
			esac
			printf -- '- {dst: "%s", type: dir, packager: rpm, file_info: {mode: 0755}}\n' "$f"
		done
	} >"$stage/tools/$p.yaml"
	for kind in "${kinds[@]}"; do
		"$stage/tools/nfpm" package -f "$stage/tools/$p.yaml" -p "$kind" -t "$out/" >/dev/null
	done
done

[ ${#kinds[@]} -gt 1 ] || exit 0

step "archives"
name=rocwire-$version-linux-amd64
mkdir "$stage/$name" "$stage/$name/share"
cp -r "$stage/bin" "$stage/lib" "$stage/$name/"
cp -r "$stage/docs" "$stage/$name/share/"
cp LICENSE README.md CHANGELOG.md "$stage/$name/"
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$name" | gzip -9n >"$out/$name.tar.gz"
scripts/chart.sh "v$version" "$out"

step "what is in them, and checksums"
go run scripts/sbom.go "$version" "$stage"/bin/* "$stage"/lib/librocwire.so "$stage"/lib/libaccelerator_amd.so >"$out/rocwire-$version.cdx.json"
(cd "$out" && sha256sum -- *.deb *.rpm *.tar.gz *.tgz *.json >SHA256SUMS && cat SHA256SUMS)
