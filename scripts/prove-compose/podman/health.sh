#!/bin/bash
# Runs the health check of each container at its interval, until this is ended. Podman leaves that to systemd.
declare -A due
while :; do
  for name in $(podman ps --filter "label=com.docker.compose.project=$1" --format '{{.Names}}'); do
    interval=$(podman inspect --format '{{if .Config.Healthcheck}}{{.Config.Healthcheck.Interval}}{{end}}' "$name" 2> /dev/null)
    [[ $interval =~ ^[0-9.]+s$ ]] || continue
    ((SECONDS >= ${due[$name]:-0})) || continue
    due[$name]=$((SECONDS + ${interval%%[.s]*}))
    podman healthcheck run "$name" > /dev/null 2>&1
  done
  sleep 1
done
