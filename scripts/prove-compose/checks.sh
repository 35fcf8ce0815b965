# Sourced by prove.sh: what it checks, each as a command that fails if the promise does not hold.

sandflow() { timeout --foreground 300 "$ENGINE" exec -i "$(containers "$1")" sandflow "${@:2}"; } # service, arguments
json() { # an expression about the object `d` on stdin
  node --eval "
    const d = JSON.parse(require('fs').readFileSync(0, 'utf8'));
    if ($1) process.exit();
    console.log(JSON.stringify(d).slice(0, 2_000));
    process.exit(1);"
}
eventually() { # seconds, command …
  local end=$((SECONDS + $1))
  until "${@:2}"; do ((SECONDS < end)) && sleep 0.5 || return 1; done
}
runs() { [[ $(inspect "$1" State.Status) == running ]]; }
has_health() { [[ $(inspect "$1" State.Health.Status) == healthy ]]; }
healthy() { eventually 120 has_health "$1"; }
one_shots='image local-image temporal-schema temporal-namespace local-namespace local-webhook'
ended_well() { [[ $(inspect "$1" State.Status) == exited && $(inspect "$1" State.ExitCode) == 0 ]]; }
one_shots_ended() {
  local service
  for service in $one_shots; do ended_well $service || return; done
}
one_shot_failed() {
  local service
  for service in $one_shots; do
    [[ $(inspect "$service" State.Status 2> /dev/null) == exited && $(inspect "$service" State.ExitCode) != 0 ]] || continue
    "$ENGINE" logs "$(containers "$service")" 2>&1 | tail -n 3
    return
  done
  return 1
}
logs_say() { "$ENGINE" logs "$(containers "$1")" 2>&1 | grep "$2" > /dev/null; }
answers() { curl --silent --fail --output /dev/null --max-time 5 "$1"; }
unused() { [[ -z $(ss --no-header --listening --tcp --numeric "sport = :$1") ]]; }
closed() { ! timeout 3 bash -c "exec 3<> /dev/tcp/$1/$2"; } # host, port

slow_job() { printf 'Slowly.\n```sh\nsleep %s; echo finished\n```\n' "$1"; }
finished='d.outcome === "completed" && d.prompts[0].result.includes("finished")'
is_prompted() { sandflow "$1" jobs show "$2" --json < /dev/null | json 'd.prompts?.some(({ promptId }) => promptId)'; }

completes_by_webhooks() { # service, id
  sandflow "$1" run 'Say hello' --id "$2" --json < /dev/null |
    json 'd.outcome === "completed" && d.wakes.length > 0 && d.wakes.every(({ by }) => by === "webhook")'
}
saves_files() { # service, id
  printf '```sh\necho hi > hi.txt\n```\n' | sandflow "$1" run - --id "$2" --get hi.txt
  [[ $("$ENGINE" exec "$(containers "$1")" cat hi.txt) == hi ]]
}
runs_batch() { # service, id
  printf 'Say one\nSay two\nSay three\n' | sandflow "$1" fanout - --id "$2" --json |
    json 'd.outcome === "completed"' && "$ENGINE" exec "$(containers "$1")" test -s "fanout-$2/results.jsonl"
}
cleans_up() { # service, id of a job whose sandbox is kept
  sandflow "$1" run 'Say hello' --id "$2" --end keep --json < /dev/null > /dev/null
  printf 'name: proof\nrules:\n  - rule: kept\n    match: { owned: kept }\n    action: stop\n' |
    "$ENGINE" exec -i "$(containers "$1")" sh -c 'cat > policy.yaml'
  sandflow "$1" cleanup run policy.yaml --json < /dev/null | json 'd.summary.outcome === "applied" && d.summary.counts.stopped === 1'
}

kill_main() { # as a kernel that is out of memory does it
  local pid
  pid=$(inspect "$1" State.Pid) && kill -9 "$pid" && eventually 60 restarted "$1" "$pid"
}
restarted() { runs "$1" && [[ $(inspect "$1" State.Pid) != "$2" ]]; }
survives_kill() { # service that is killed, service through which a job runs meanwhile
  slow_job 8 | sandflow "$2" run - --id "kill-$1" --detach > /dev/null && eventually 30 is_prompted "$2" "kill-$1" &&
    kill_main "$1" && sandflow "$2" jobs watch "kill-$1" --json < /dev/null | json "$finished"
}
local_survives_kill() { # its sandboxes end with it, so a later job completes
  kill_main local && healthy local && completes_by_webhooks local-worker after-local
}
all_completed() { # service, number
  sandflow "$1" jobs list --json < /dev/null | json "d.jobs.length === $2 && d.jobs.every(({ outcome }) => outcome === 'completed')"
}

powerless() {
  "$ENGINE" exec "$(containers "$1")" sh -c '
    [ $(id -u) = 1000 ] && grep -q "^CapBnd:.0*$" /proc/1/status &&
      grep -q "^CapEff:.0*$" /proc/self/status && grep -q "^NoNewPrivs:.1" /proc/self/status'
}
attack='```sh
ls /var/lib/sandflow || echo no files
for at in temporal/7233 postgresql/5432 local-bridge/7392 127.0.0.1/7391; do
  timeout 3 bash -c "exec 3<>/dev/tcp/$at" || echo "no $at"
done
```'
isolated() { # the files of the local service are out of reach, and so are its port, Temporal and the database
  local out=(files temporal/7233 postgresql/5432 local-bridge/7392 127.0.0.1/7391)
  logs_say local 'isolation: bubblewrap' &&
    echo "$attack" | sandflow local-worker run - --id isolated --json |
    json "'${out[*]}'.split(' ').every((it) => d.prompts[0].result.includes('no ' + it))"
}
retains() { # namespace
  compose run --rm --no-deps -T --entrypoint temporal temporal-namespace \
    operator namespace describe --namespace "$1" --output json < /dev/null | grep -i 'retention.*2592000s'
}
ends_in_order() {
  local from=$SECONDS
  "$ENGINE" stop --time 30 "$(containers "$1")" > /dev/null && ended_well "$1" && ((SECONDS - from < 25))
}
replace_image() { # as the comment says; podman-compose does not see that an image has changed
  if [[ $ENGINE == docker ]]; then compose up --detach --build; else
    compose build image && compose up --detach --force-recreate --no-deps worker bridge
  fi
}
upgrades() { # service: the image changes while a job runs
  local before
  before=$(inspect "$1" Image) && slow_job 20 | sandflow "$1" run - --id upgrade --detach > /dev/null &&
    eventually 30 is_prompted "$1" upgrade && echo >> "$copy/LICENSE" && replace_image && healthy "$1" &&
    [[ $(inspect "$1" Image) != "$before" ]] && sandflow "$1" jobs watch upgrade --json < /dev/null | json "$finished"
}
nothing_left() {
  [[ -z $(containers)$("$ENGINE" volume ls --quiet | grep "^$project")$("$ENGINE" network ls --format '{{.Name}}' | grep "^$project") ]] &&
    unused 7233 && unused 8233
}
