#!/bin/bash
# Starts docker-compose.yml as it is, and checks what its comment and docs/production.md promise. Needs Linux and root, Node and
# curl, and Docker with its plugin `compose`, or podman with podman-compose. Where no image registry can be reached, first run
# stand-ins/build.sh. It uses the ports of the file, a project name of its own, and a copy of this checkout, and takes all of it down
# again. The last line is `N passed, N failed`; the exit code is 1 if something failed.
set -uo pipefail
. "$(dirname "$0")/engine.sh"
# Podman's mounts are its own, so that no other program of the host takes them away, and none stays.
if [[ $ENGINE == podman && -z ${PROVE_COMPOSE_UNSHARED:-} ]]; then
  PROVE_COMPOSE_UNSHARED=1 exec unshare --mount --propagation private "$0"
fi
. "$here/checks.sh"
log=$work/log/prove copy=$work/project
rm -rf "$log" "$copy" && mkdir -p "$log" "$copy"
(cd "$root" && git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents --target-directory "$copy")
passed=0 failed=0
check() { # title, command …
  if "${@:2}" > "$log/last" 2>&1; then
    passed=$((passed + 1)) && echo "ok      $1"
  else
    failed=$((failed + 1)) && echo "FAILED  $1" && tail -n 5 "$log/last" | cut -c 1-1500 | sed 's/^/        /'
    return 1
  fi
}
# Without it, every later check would wait in vain.
need() { # title, command …
  check "$@" && return
  echo "$passed passed, $failed failed; the rest was not tried"
  exit 1
}
# Gives up as soon as a container that the others wait for has ended with an error.
starts() { # arguments of `compose up --detach`
  compose "$@" &
  local up=$!
  while kill -0 $up 2> /dev/null; do
    if one_shot_failed; then
      pkill --parent $up
      wait $up
      return 1
    fi
    sleep 1
  done
  wait $up
}
take_down() {
  "$ENGINE" rm --force --volumes $project-remote
  compose --profile local --profile ui down --volumes --remove-orphans
}

export POSTGRES_PASSWORD=proof$RANDOM$RANDOM SANDBOX_API_URL=http://api:8080/v1 SANDBOX_API_ALLOW_HTTP=1
export TEMPORAL_UI_IP=127.84.3.199
key=$copy/secrets/sandbox-api-key
mkdir "$copy/secrets" && echo nothing > "$key" && chmod 600 "$key"
take_down > /dev/null 2>&1
if [[ $ENGINE == podman ]]; then
  "$here/podman/health.sh" $project > "$log/health" 2>&1 &
  health=$!
fi
trap 'take_down > "$log/down" 2>&1; [[ -z ${health:-} ]] || kill "$health"' EXIT

echo "— the default profile, with $ENGINE"
need 'the image is built' compose build image
need 'the image of the local service is built' compose --profile local build local-image
echo "        $("$ENGINE" images --format '{{.Repository}}:{{.Tag}} {{.Size}}' | grep 'sandflow[a-z-]*:')"
for port in 7233 7392 8233 9465; do check "port $port is free" eventually 120 unused $port; done
need 'it starts' starts --profile ui up --detach
check 'a worker that cannot read the key says so, and ends' eventually 60 logs_say worker 'cannot be read'
"$ENGINE" run --detach --init --name $project-remote --network ${project}_default --network-alias api \
  --volume "$here/remote-service.mjs:/remote-service.mjs:ro" --entrypoint node sandflow-local-service:0.1.0 \
  /remote-service.mjs --directory /var/lib/sandflow/local --api-key-file /var/lib/sandflow/key > /dev/null
eventually 30 "$ENGINE" exec $project-remote test -s /var/lib/sandflow/key
"$ENGINE" exec $project-remote cat /var/lib/sandflow/key > "$key" && chown 1000 "$key"
for service in postgresql temporal worker; do need "$service is healthy" healthy $service; done
check 'webhooks connect, as the comment says' compose run --rm -T worker webhooks connect --no-test --url http://127.0.0.1:7392/webhooks/sandbox
check 'the bridge is healthy once it is registered' healthy bridge
check 'the command is on the path, as the comment says' compose exec -T worker sandflow --version
check 'a job completes, woken by webhooks only' completes_by_webhooks worker hello
check 'a job saves a file in the current folder' saves_files worker files
check 'a batch completes, and saves its results' runs_batch worker batch
check 'a cleanup stops what a job kept' cleans_up worker kept
check 'the UI answers' answers http://$TEMPORAL_UI_IP:8233/
check 'the UI does not answer where a web page can guess it' closed 127.0.0.1 8233
check 'the metrics of the bridge answer on loopback' answers http://127.0.0.1:9465/metrics
other=$(hostname -I | cut -d ' ' -f 1)
for port in 7233 8233 9465; do check "port $port is not open to other hosts" closed "$other" $port; done
check 'closed jobs are kept for 30 days' retains default

echo '— the profile local, side by side'
need 'it starts, as the comment says' starts --profile local up --detach local-worker local-bridge
for service in local local-worker local-bridge; do need "$service is healthy" healthy $service; done
check 'the one-shot services ended with 0' one_shots_ended
check 'a job completes, woken by webhooks only' completes_by_webhooks local-worker hello
check 'a job saves a file in the current folder' saves_files local-worker files
check 'a batch completes, and saves its results' runs_batch local-worker batch
check 'a cleanup stops what a job kept' cleans_up local-worker kept
check 'closed jobs are kept for 30 days' retains sandflow-local
check 'sandboxes are isolated' isolated
for service in worker bridge local local-worker local-bridge; do check "$service is user 1000, without capabilities" powerless $service; done

echo '— each part is killed once'
for service in worker bridge temporal postgresql temporal-ui; do
  check "$service: a running job completes" survives_kill $service worker
done
for service in local-worker local-bridge; do check "$service: a running job completes" survives_kill $service local-worker; done
check 'local: it starts again, with its worker' local_survives_kill
for service in postgresql temporal worker bridge local local-worker local-bridge; do check "$service is healthy again" healthy $service; done
check 'the UI answers again' eventually 60 answers http://$TEMPORAL_UI_IP:8233/
check 'the image is replaced while a job runs' upgrades worker
check 'no job of the default profile is lost' all_completed worker 9
check 'no job of the profile local is lost' all_completed local-worker 7

echo '— the end'
for service in worker bridge local-worker local-bridge local; do check "$service ends in order" ends_in_order $service; done
check 'it is taken down, and its volumes stay' compose --profile local --profile ui down
unset SANDBOX_API_URL SANDBOX_API_ALLOW_HTTP
check 'the profile local starts again, alone' compose --profile local up --detach local-worker local-bridge
healthy local-worker
check 'its jobs are still known' all_completed local-worker 7
check 'a job completes, woken by webhooks only' completes_by_webhooks local-worker again
take_down > "$log/down" 2>&1
check 'nothing is left' nothing_left
echo "$passed passed, $failed failed"
((failed == 0))
