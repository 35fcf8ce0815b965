# Sourced by the other scripts. Chooses the container engine, and defines how they talk to it.
#
#   WORK    where podman keeps images, containers and volumes, and where downloads are; default: a folder in the cache
#   ENGINE  docker or podman; default: docker with its plugin `compose`, else podman
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/sandflow/prove-compose}
# An installation of the same host is called `sandflow`, and must not be taken for the one of the proof.
project=sandflow-proof
mkdir -p "$work"/{bin,conf,downloads,log,podman/{root,run,networks}}

if [[ -z ${ENGINE:-} ]]; then
  if docker compose version > /dev/null 2>&1 && docker info > /dev/null 2>&1; then ENGINE=docker; else ENGINE=podman; fi
fi

if [[ $ENGINE == podman ]]; then
  # Storage of its own, and a configuration that also works in a container: runc also accepts cgroups of version 1, and limits above
  # those of the host need a capability. Health checks are run by podman/health.sh, since systemd may be missing.
  export CONTAINERS_STORAGE_CONF=$work/conf/storage.conf CONTAINERS_CONF=$work/conf/containers.conf
  export BUILDAH_ISOLATION=chroot BUILDAH_FORMAT=docker DISABLE_HC_SYSTEMD=true
  printf '%s\n' '[storage]' 'driver = "overlay"' "graphroot = \"$work/podman/root\"" "runroot = \"$work/podman/run\"" \
    > "$CONTAINERS_STORAGE_CONF"
  cat > "$CONTAINERS_CONF" << END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
init_path = "$work/bin/catatonit"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$work/podman/tmp"
[network]
network_backend = "netavark"
network_config_dir = "$work/podman/networks"
END
fi

# Runs Compose on the copy of the project in $copy.
compose() {
  if [[ $ENGINE == docker ]]; then
    (cd "$copy" && timeout --foreground 600 docker compose --project-name $project "$@")
  else
    (cd "$copy" && PATH=$here/podman:$PATH timeout --foreground 600 "$work/venv/bin/podman-compose" --project-name $project "$@")
  fi
}

# The containers of a service of the project, or of all of them, also those that have ended.
containers() { # [service]
  "$ENGINE" ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$project" \
    ${1:+--filter "label=com.docker.compose.service=$1"}
}

inspect() { "$ENGINE" inspect --format "{{.$2}}" "$(containers "$1")"; } # service, field
