/** The signals that ask this process to end in order: Ctrl-C, SIGTERM, and SIGHUP of a terminal or a connection that closes. */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * @param exit called at a second Ctrl-C or SIGTERM, with the exit code. Not at a second SIGHUP: a shell and its terminal
 *   send one each, and some service managers send one after SIGTERM
 * @param isIgnored whether SIGHUP is ignored
 * @returns a signal that the first of them aborts; its reason is the name of the first
 */
export function askedToEnd(exit: (code: number) => void, isIgnored = startedWithoutHangUp()): AbortSignal {
  const end = new AbortController();
  for (const signal of endSignals) {
    process.on(signal, () => {
      if (signal === 'SIGHUP' && (isIgnored || end.signal.aborted)) return;
      if (end.signal.aborted) exit(128 + constants.signals[signal]);
      else end.abort(signal);
    });
  }
  return end.signal;
}

/**
 * Whether this process was started with SIGHUP ignored, as `nohup` does. Node has taken the signal back before it runs
 * this. So its parent is asked, such as a script under `nohup`, and the name that shells give to the program they start.
 */
function startedWithoutHangUp(): boolean {
  // biome-ignore lint/style/noProcessEnv: this name is no setting.
  if (/(?:^|\/)nohup$/.test(process.env._ ?? '')) return true;
  try {
    const ignored = /^SigIgn:\s*([\da-f]+)$/m.exec(readFileSync(`/proc/${process.ppid}/status`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(ignored.slice(-1), 16) & 1) === 1;
  } catch {
    return false;
  }
}
