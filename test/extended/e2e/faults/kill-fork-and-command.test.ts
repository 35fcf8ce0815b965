/** The worker is killed with SIGKILL around a fork, a prompt and a command. */
import { describe, expect, it, vi } from 'vitest';
import { type KilledWorker, type Moments, shareKillStand } from '../../../e2e/faults/killed-worker.js';
import { accepted, booksOf, patient, readBooks, shell } from '../../../e2e/stack/fixture.js';
import { archivedSandbox } from '../../../e2e/stack/fixture-sandbox.js';

const stand = shareKillStand();

type IsIt = (path: string) => boolean;

/** After the service has carried out the call, and before the worker has the answer. */
const beforeTheAnswer = (isIt: IsIt): Moments => {
  let seen = 0;
  return {
    onAnswered({ path }, worker) {
      if (isIt(path) && seen++ === 0) worker.kill();
    },
  };
};

/** When the call is on its way: it reaches the service after the same call of the next worker. */
const onTheWay = (isIt: IsIt): Moments => {
  let asked = 0;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    onAsked(path, worker) {
      if (!isIt(path) || asked++ > 0) return undefined;
      worker.kill();
      return released;
    },
    onAnswered({ path }) {
      if (isIt(path)) release();
    },
  };
};

const isFork = (path: string) => path.endsWith('/fork');
const isPrompt = (path: string) => path.endsWith('/prompt');
const isCommand = (path: string) => path.endsWith('/commands');
const callsOf = ({ answered }: KilledWorker, isIt: IsIt) => answered.filter(({ path }) => isIt(path)).length;

describe.concurrent('a worker that is killed', () => {
  it.for([
    ['before-answer', beforeTheAnswer],
    ['on-the-way', onTheWay],
  ] as const)('around a fork leaves one fork, which gets one prompt: %s', async ([moment, momentsOf]) => {
    const jobId = `fork-${moment}`;
    const sandboxId = await archivedSandbox(stand.service, { path: 'note', content: 'of the source\n' });
    const worker = await stand.startWorker(jobId, momentsOf(isFork));
    const prompts = [{ prompt: shell('cat note') }];
    const source = { kind: 'fork', sandboxId } as const;
    const input = { jobId, source, prompts, end: 'stop' } as const;
    const handle = await worker.start(input);
    await worker.replaced;
    expect(await handle.result()).toMatchObject({
      outcome: 'completed',
      prompts: [{ status: 'completed', result: 'of the source\n' }],
      left: [],
    });
    await vi.waitFor(() => expect(callsOf(worker, isFork), 'calls of fork').toBe(2), patient);
    const books = booksOf(jobId, await readBooks(stand.service));
    expect(accepted(books)).toEqual({ sandboxes: 1, prompts: 1, stops: 1 });
  });

  it('around a prompt does not send it twice', async () => {
    const jobId = 'prompt';
    const worker = await stand.startWorker(jobId, beforeTheAnswer(isPrompt));
    const prompts = [{ prompt: shell('echo once') }];
    const input = { jobId, prompts, end: 'stop' } as const;
    const handle = await worker.start(input);
    await worker.replaced;
    expect(await handle.result()).toMatchObject({
      outcome: 'completed',
      prompts: [{ status: 'completed', result: 'once\n' }],
      left: [],
    });
    expect(callsOf(worker, isPrompt)).toBe(1);
    const books = booksOf(jobId, await readBooks(stand.service));
    expect(accepted(books)).toEqual({ sandboxes: 1, prompts: 1, stops: 1 });
  });

  const untilReleased = 'while [ ! -e go ]; do sleep 0.1; done';
  it.for([
    ['before-answer', beforeTheAnswer, 'true'],
    ['on-the-way', onTheWay, 'true'],
    ['running', () => ({}), untilReleased],
  ] as const)('around a command does not make it run twice: %s', async ([moment, momentsOf, rest]) => {
    const jobId = `command-${moment}`;
    const worker = await stand.startWorker(jobId, momentsOf(isCommand));
    const commands = [`echo ran >> runs; ${rest}`, 'echo next >> runs'];
    const timing = { readLagMs: 1_000, commandSilenceMs: 5_000 };
    const input = { jobId, commands, end: 'keep', timing } as const;
    const handle = await worker.start(input);
    const sandboxes = async () => booksOf(jobId, await readBooks(stand.service)).sandboxes;
    const sandboxId = await vi.waitFor(async () => {
      const [sandbox] = await sandboxes();
      if (!sandbox) throw new Error('there is no sandbox yet');
      return sandbox.id;
    }, patient);
    const runs = async () => (await stand.api.readFile(sandboxId, 'runs')).content;
    if (moment === 'running') {
      await vi.waitFor(runs, patient);
      worker.kill();
    }
    await worker.replaced;
    // The next worker finds the command of the killed one at work.
    await vi.waitFor(() => expect(worker.asked.filter(isCommand).length).toBeGreaterThanOrEqual(2), patient);
    await stand.api.writeFile(sandboxId, { path: 'go', content: '', encoding: 'utf8' });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', sandboxId, left: [] });
    // The late call has reached the service by now, and would have run.
    await vi.waitFor(() => expect(callsOf(worker, isCommand)).toBeGreaterThanOrEqual(4), patient);
    expect(await runs()).toBe('ran\nnext\n');
    expect(await sandboxes()).toHaveLength(1);
    await stand.api.runCommand(sandboxId, { command: `rm -rf /tmp/.sandflow-${sandboxId}-*` });
  });
});
