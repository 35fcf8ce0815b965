/** Acts of others on the sandbox of a workflow, right before or right after any of its calls. */
import { type Exchange, give } from '../faults/fault-proxy.js';
import { type Hold, hold } from '../faults/hold.js';
import type { World } from '../world.js';

export const actNames = ['stop', 'resume', 'rename', 'prompt', 'delete', 'auto-stop', 'lease', 'claim'] as const;
export type ActName = (typeof actNames)[number];

export interface Act {
  readonly name: string;
  readonly act: ActName;
  readonly when: 'before' | 'after';
}

/** These acts last, so one that begins after a call equals one that begins before the next. */
const lasting: readonly ActName[] = ['lease', 'claim'];

export const acts: readonly Act[] = actNames.flatMap((act) => {
  const before: Act = { name: `${act}-before`, act, when: 'before' };
  return lasting.includes(act) ? [before] : [before, { name: `${act}-after`, act, when: 'after' }];
});

/** The target of an act. */
export interface Played {
  readonly sandboxId: string;
  /** True if the run forks it. */
  readonly isSource: boolean;
  /** The job's own text, for a prompt. */
  readonly text: string;
}

/** The effect of the act, and what must remain of it. */
export interface Traces {
  sandboxId: string | null;
  promptId: string | null;
  /** The held lease or claim, if any. */
  hold: Hold | null;
}

export const othersName = 'renamed by somebody else';
export const othersTtlSeconds = 7_200;

/** Performs the act once, bypassing the proxy. A refused act has no effect. */
export async function play(
  world: World,
  { act }: Act,
  { sandboxId, text, isSource }: Played,
  traces: Traces,
): Promise<void> {
  const { api } = world.stand;
  const played = {
    stop: () => api.stopSandbox(sandboxId),
    resume: () => api.resumeSandbox(sandboxId),
    rename: () => api.updateSandbox(sandboxId, { name: othersName }),
    prompt: async () => {
      traces.promptId = (await api.sendPrompt(sandboxId, { prompt: text, new: true })).promptId ?? null;
    },
    delete: () => api.deleteSandbox(sandboxId),
    'auto-stop': () => api.updateSandbox(sandboxId, { ttlSeconds: othersTtlSeconds }),
    lease: async () => {
      traces.hold = await hold(world, { sandboxId, isSource }, 'lease');
    },
    claim: async () => {
      traces.hold = await hold(world, { sandboxId, isSource }, 'claim');
    },
  } as const;
  try {
    await played[act]();
    traces.sandboxId = sandboxId;
  } catch {
    traces.sandboxId = null;
  }
}

/** Performs `act` around the call that an exchange holds. */
export async function around(
  { when }: Act,
  { forward, response }: Exchange,
  playIt: () => Promise<void>,
): Promise<void> {
  if (when === 'before') await playIt();
  const answer = await forward();
  if (when === 'after') await playIt();
  give(response, answer);
}
