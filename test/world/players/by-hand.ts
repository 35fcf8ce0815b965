/** A person who works by hand in sandboxes of jobs: changes the source of a batch, and forks a sandbox. */
import { anySignal, timeLimit } from '../../../src/os/any-signal.js';
import { type Account, untilState } from './account.js';
import type { Traces } from './traces.js';

/** A call of the job waits for the person, at most so long, in ms. */
const patienceMs = 20_000;

/** Resumes an archived sandbox, changes the file `seed`, and stops it again. */
export async function changeArchived(account: Account, sandboxId: string, traces: Traces): Promise<void> {
  const { api } = account;
  const within = { api, signal: anySignal([account.signal, timeLimit(patienceMs)]) };
  const { state } = (await api.getSandbox(sandboxId)).sandbox;
  if (state !== 'archived') return;
  traces.taken.add(sandboxId);
  await api.resumeSandbox(sandboxId);
  traces.resumed.set(sandboxId, Date.now());
  await untilState(within, sandboxId, 'ready');
  await api.writeFile(sandboxId, { path: 'seed', content: 'changed by a person' });
  await api.stopSandbox(sandboxId);
  await untilState(within, sandboxId, 'archived');
}

/** Forks the sandbox, gives the fork no name, and leaves work in it. */
export async function forkByHand(account: Account, job: string, sandboxId: string, traces: Traces): Promise<void> {
  const { api } = account;
  const { sandbox } = await api.forkSandbox(sandboxId, { ttlSeconds: 7_200 });
  traces.forks.push({ job, sandboxId: sandbox.id });
  await untilState({ api, signal: anySignal([account.signal, timeLimit(patienceMs)]) }, sandbox.id, 'ready');
  await api.writeFile(sandbox.id, { path: 'work-of-a-person', content: 'unsaved' });
}
