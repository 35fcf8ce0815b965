/** The worker is killed with SIGKILL after a call was accepted and before it has the answer: once for each call. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { accepted, booksOf, readBooks, reportOf, shell } from '../../../e2e/stack/fixture.js';
import { createParts, type LocalService, type PartsOfStack } from '../../../e2e/stack/fixture-parts.js';
import { createTap, type PassedCall } from '../../../e2e/stack/fixture-tap.js';

/** The calls of a plain job. A call is matched with earlier ones. Those of a follow take longest to recover. */
const calls: readonly [string, (call: PassedCall, before: readonly PassedCall[]) => boolean][] = [
  ['follow-shared-read', ({ method, path }) => method === 'GET' && path.endsWith('/sandboxes')],
  ['follow-prompt-read', ({ method, path }) => method === 'GET' && path.includes('/prompts/')],
  ['create', ({ method, path }) => method === 'POST' && path.endsWith('/sandboxes')],
  ['prompt', ({ method, path }) => method === 'POST' && path.endsWith('/prompt')],
  ['stop', (call) => isStop(call)],
  ['stop-confirmed', ({ method, path }, before) => method === 'GET' && /bx_\w+$/.test(path) && before.some(isStop)],
];

function isStop({ method, path }: PassedCall): boolean {
  return method === 'POST' && path.endsWith('/stop');
}

describe('a worker that is killed after an accepted call', () => {
  let parts: PartsOfStack;
  let service: LocalService;
  beforeAll(async () => {
    parts = await createParts();
    service = await parts.startService('service');
  });
  afterAll(() => parts.close());

  it.concurrent.for(calls)(
    'completes the job with one sandbox, one prompt and one stop: %s',
    async ([jobId, isIt], { expect }) => {
      const before: PassedCall[] = [];
      let kill: (() => void) | undefined;
      let killed: PassedCall | undefined;
      const tap = await createTap(service.url, (call) => {
        const hit = killed === undefined && isIt(call, before);
        before.push(call);
        if (!hit) return true;
        killed = call;
        kill?.();
        return false;
      });
      try {
        const workerEnvironment = parts.environment({ ...service, url: tap.url }, jobId);
        const worker = await parts.startWorker(workerEnvironment);
        kill = () => void worker.process.kill('SIGKILL');
        const args = ['run', shell('echo through'), '--id', jobId, '--json', '--quiet'];
        const run = parts.cli.start(args, parts.environment(service, jobId));
        expect((await worker.ended).exitCode, 'it was killed').toBeNull();
        expect(killed?.status, 'the call was accepted').toBeLessThan(300);
        await parts.startWorker(workerEnvironment);
        const ended = await run.ended;
        expect(reportOf(ended)).toMatchObject({
          outcome: 'completed',
          prompts: [{ status: 'completed', result: 'through\n' }],
          stop: { status: 'completed', kept: 'saved' },
        });
        expect(ended.exitCode).toBe(0);
        const books = booksOf(jobId, await readBooks(service));
        expect(accepted(books)).toEqual({ sandboxes: 1, prompts: 1, stops: 1 });
        // A second stop returns the first one; after a resume by somebody else it would not.
        expect(before.filter(isStop), 'calls of stop').toHaveLength(1);
      } finally {
        await tap.close();
      }
    },
  );
});
