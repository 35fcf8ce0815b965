import { Runtime } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { earlyQueryText } from '../../../src/protocol/early-query.js';
import { installWorkerLogger, WorkerLogger } from '../../../src/temporal/runtime-log.js';

it('own worker: the log leaves out that workers for activities have no workflows, and nothing else', () => {
  const lines: string[] = [];
  const log = new WorkerLogger('INFO', ({ message }) => void lines.push(message));
  log.warn('No workflows registered, not polling for workflow tasks');
  log.warn('something else');
  expect(lines).toEqual(['something else']);
});

it('a refused early query is one line without its stack, and every other failed activation stays an error', () => {
  const lines: unknown[] = [];
  const log = new WorkerLogger('INFO', ({ level, message, meta }) => void lines.push([level, message, meta]));
  const message = 'Failed to process Workflow Activation';
  const early = { error: new Error(`${earlyQueryText} Ask again.`), workflowId: 'w', runId: 'r', taskQueue: 'q' };
  log.error(message, early);
  const other = { error: new Error('something else'), workflowId: 'w' };
  log.error(message, other);
  log.error(message);
  expect(lines).toEqual([
    ['INFO', expect.stringContaining(earlyQueryText), { workflowId: 'w', runId: 'r' }],
    ['ERROR', message, other],
    ['ERROR', message, undefined],
  ]);
});

it('own worker: a runtime that somebody installed keeps its log', async () => {
  const logger = new WorkerLogger('ERROR');
  const runtime = Runtime.install({ logger });
  installWorkerLogger();
  expect(Runtime.instance()).toBe(runtime);
  await runtime.shutdown();
});
