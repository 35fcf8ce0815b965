/**
 * Builds the POSIX shell script that runs a command at most once: an atomic `mkdir` decides whether it may run. The
 * created directory holds the command's exit code and both outputs until they are recorded elsewhere.
 *
 *     claim:   (nothing) ──mkdir──► running ──► ended         recover: (nothing) ──mkdir──► never
 *
 * If a claim finds the directory, it runs nothing. If a recovery finds no directory, it creates one, so that a claim
 * that arrives later runs nothing. The command is a child process that inherits the script's descriptors, variables,
 * working directory and signals.
 */

/** Answers of the script in place of a result. */
export type MarkerWord =
  /** Another copy of the claim, or a recovery, was first, so this copy ran nothing. */
  | 'taken'
  /** No marker can be created here: nothing was run. */
  | 'no_place'
  /** The command has not started, and will not. */
  | 'not_begun'
  | 'running'
  /** The command started, and ended without a result. */
  | 'died'
  /** The command ended, and the machine has restarted since. */
  | 'restarted';

const words: readonly MarkerWord[] = ['taken', 'no_place', 'not_begun', 'running', 'died', 'restarted'];
const namePattern = /^[A-Za-z0-9_-]{8,200}$/;

/** How long a recovery waits for the end of a command before it says `running`, in s. */
export const recoveryWaitSeconds = 20;

/** A longer command runs without a marker: the service accepts 120 KiB, including the text around the command. */
export const longestMarkedBytes = 112 * 1024;

/** How much of each output is stored, in blocks of 512 bytes (1,024 in bash). The rest is passed on, but not stored. */
const keptBlocks = 16_384;

function checkName(name: string): void {
  if (!namePattern.test(name)) throw new RangeError(`"${name}" cannot name a marker`);
}

function preamble(name: string): string {
  checkName(name);
  // The prefix avoids a clash with variables of the caller. If such a variable were exported, the command would receive
  // our value.
  return `sandflow_d=/tmp/.sandflow-${name}
sandflow_say() { echo "${tag(name)} $1" >&2; exit 96; }
sandflow_end() {
  [ "$2" != s ] || { ulimit -c 0; trap - "$(($1 - 128))"; kill "-$(($1 - 128))" $$; } 2>/dev/null
  exit "$1"
}
sandflow_boot() { cat /proc/sys/kernel/random/boot_id 2>/dev/null; }
`;
}

function tag(name: string): string {
  return `sandflow-marker ${name}`;
}

/**
 * The script that runs `command` if nobody has tried before. It also removes the owner's other markers, because their
 * results are already recorded. Send it once. If it arrives twice, the command still runs once.
 * @param owner prefix of the name, and of all markers of one job in one sandbox
 */
export function claimText(owner: string, name: string, command: string): string {
  const end = `SANDFLOW_${name}`;
  return `${preamble(name)}command -v tee >/dev/null && command -v mkfifo >/dev/null || sandflow_say no_place
mkdir -m 700 "$sandflow_d" 2>/dev/null || { [ -d "$sandflow_d" ] && sandflow_say taken; sandflow_say no_place; }
${removalText(owner)}
{ sandflow_boot >"$sandflow_d/boot"; : >"$sandflow_d/how" && mkfifo "$sandflow_d/o" "$sandflow_d/e" "$sandflow_d/ends" "$sandflow_d/alive"; } 2>/dev/null || sandflow_say no_place
sandflow_c=$(cat <<'${end}'
${command}x
${end}
)
sandflow_s=$0
case \${0##*/} in *sh) command -v "$0" >/dev/null 2>&1 || sandflow_s=/bin/sh ;; *) sandflow_s=/bin/sh ;; esac
sandflow_copy() {
  command trap '' HUP INT TERM XFSZ && ulimit -f ${keptBlocks}
  tee "$sandflow_d/$1" <"$sandflow_d/$2"
  echo end >&7
}
exec 3>&1 4>&2 2>"$sandflow_d/how" 7<>"$sandflow_d/ends" 8<>"$sandflow_d/alive"
sandflow_copy out o >&3 2>/dev/null 3>&- 4>&- 8>&- &
sandflow_copy err e >&4 2>/dev/null 3>&- 4>&- 8>&- &
exec 5>"$sandflow_d/o" 6>"$sandflow_d/e"
( [ -z "\${BASH_VERSION-}" ] || SHLVL=$((SHLVL - 1)); exec "$sandflow_s" -c "\${sandflow_c%x}" ) >&5 2>&6 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-
sandflow_x=$?
sandflow_k=n
[ "$sandflow_x" -le 128 ] || [ ! -s "$sandflow_d/how" ] || sandflow_k=s
exec 5>&- 6>&-
sandflow_sizes() { wc -c <"$sandflow_d/out"; wc -c <"$sandflow_d/err"; }
{ for sandflow_i in 1 2 3 4 5 6 7 8; do
  sandflow_b=$(sandflow_sizes); sleep 0.2 || sleep 1
  [ "$sandflow_b" != "$(sandflow_sizes)" ] || break
done; echo quiet >&7; } </dev/null >/dev/null 2>&1 3>&- 4>&- 8>&- &
for sandflow_i in 1 2; do
  read -r sandflow_l <&7
  [ "$sandflow_l" = end ] || break
done
kill $! 2>/dev/null
echo "$sandflow_x $sandflow_k" >"$sandflow_d/c" && mv "$sandflow_d/c" "$sandflow_d/code"
sandflow_end "$sandflow_x" "$sandflow_k"
`;
}

/**
 * The script that reproduces the command's outputs and exit code, or reports why it cannot. Never runs the command.
 * Safe to repeat.
 * @param waitSeconds how long it waits for the end of a running command, in seconds
 */
export function recoverText(name: string, waitSeconds: number = recoveryWaitSeconds): string {
  return `${preamble(name)}if mkdir -m 700 "$sandflow_d" 2>/dev/null; then : >"$sandflow_d/never"; sandflow_say not_begun; fi
[ -d "$sandflow_d" ] || sandflow_say no_place
[ ! -e "$sandflow_d/never" ] || sandflow_say not_begun
sandflow_replay() {
  [ -e "$sandflow_d/code" ] || return 0
  [ "$(sandflow_boot)" = "$(cat "$sandflow_d/boot")" ] || sandflow_say restarted
  read -r sandflow_x sandflow_k <"$sandflow_d/code"
  cat "$sandflow_d/out"; cat "$sandflow_d/err" >&2
  sandflow_end "$sandflow_x" "$sandflow_k"
}
sandflow_alive() {
  [ -p "$sandflow_d/alive" ] || return 1
  rm -f "$sandflow_d/a$$"
  { : <"$sandflow_d/alive"; : >"$sandflow_d/a$$"; } >/dev/null 2>&1 &
  for sandflow_j in 1 2 3 4 5 6 7 8 9 10; do
    [ ! -e "$sandflow_d/a$$" ] || { rm -f "$sandflow_d/a$$"; return 0; }
    sleep 0.2 || sleep 1
  done
  kill $!
  return 1
}
sandflow_i=0
sandflow_deaths=0
while :; do
  sandflow_replay
  [ "$sandflow_i" -lt ${waitSeconds} ] || sandflow_say running
  if sandflow_alive 2>/dev/null; then sandflow_deaths=0; else sandflow_deaths=$((sandflow_deaths + 1)); fi
  sandflow_replay
  [ "$sandflow_deaths" -lt 3 ] || sandflow_say died
  sleep 1
  sandflow_i=$((sandflow_i + 1))
done
`;
}

/**
 * The script that removes an owner's markers. It keeps the marker that a claim has just created. It also keeps markers
 * of commands that never started, because they stop a late duplicate from running. Safe to repeat.
 * @throws RangeError as `claimText`
 */
export function removalText(owner: string): string {
  checkName(owner);
  return `for sandflow_o in /tmp/.sandflow-${owner}-*; do
  [ "$sandflow_o" = "\${sandflow_d-}" ] || [ -e "$sandflow_o/never" ] || rm -rf "$sandflow_o"
done 2>/dev/null`;
}

/** The script's answer in place of a result; undefined if `stderr` comes from the command itself. */
export function markerWord(name: string, stderr: string): MarkerWord | undefined {
  return words.find((word) => stderr.includes(`${tag(name)} ${word}\n`));
}
