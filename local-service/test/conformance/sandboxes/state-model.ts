/** A model of the states: the changes of the specification's table, and their events. */

const usable = ['ready', 'idle', 'running'];
export const isUsable = (state: string): boolean => usable.includes(state);
/** Why a state may change. */
export type Cause = 'time' | 'stop' | 'resume' | 'prompt' | 'interrupt' | 'finish' | 'error' | 'recover' | 'delete';

/** Changes by time: boots, archival, auto-stop and recovery. To `gone` after a cancelled sandbox was reported. */
const byTime: Readonly<Record<string, readonly string[]>> = {
  init: ['provisioning'],
  provisioning: ['provisioned', 'cloning'],
  provisioned: ['ready', 'error', 'cancelled'],
  cloning: ['ready', 'error', 'cancelled'],
  ready: ['archiving'],
  idle: ['archiving'],
  archiving: ['archived'],
  error: ['ready'],
  cancelled: ['gone'],
};

/** The states that a sandbox may have after a cause, besides its previous one. */
export function movesOf(from: string, cause: Cause): readonly string[] {
  // A cancelled sandbox is reported once, whatever else happens.
  if (from === 'cancelled') return ['gone'];
  switch (cause) {
    case 'time':
      return byTime[from] ?? [];
    case 'stop':
      return isUsable(from) || from === 'error' ? ['archiving'] : [];
    case 'resume':
      return ['archived', 'archiving', 'error'].includes(from) ? ['provisioning'] : [];
    case 'prompt':
      return isUsable(from) ? ['running'] : [];
    case 'interrupt':
    case 'finish':
      return from === 'running' ? ['idle'] : [];
    case 'error':
      return isUsable(from) ? ['error'] : [];
    case 'recover':
      return from === 'error' ? ['ready'] : [];
    case 'delete':
      return ['gone'];
  }
}

/** Whether the cause must have changed the sandbox. */
export function mustMove(from: string, cause: Cause): boolean {
  if (cause === 'time') return from === 'cancelled';
  // A resume without saved data is refused.
  if (cause === 'resume') return from === 'archiving';
  return movesOf(from, cause).length > 0 && from !== movesOf(from, cause)[0];
}

/** The event of a change; undefined for none. */
export function eventOf(from: string, to: string): string | undefined {
  if (to === 'error') return 'sandbox.error';
  if (to === 'archived') return 'sandbox.archived';
  return isUsable(to) && !isUsable(from) ? 'sandbox.ready' : undefined;
}
