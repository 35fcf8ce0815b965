import { Runtime } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { installWorkerLogger, WorkerLogger } from '../../../src/temporal/runtime-log.js';

it('own worker: the log leaves out that workers for activities have no workflows, and nothing else', () => {
  const lines: string[] = [];
  const log = new WorkerLogger('INFO', ({ message }) => void lines.push(message));
  log.warn('No workflows registered, not polling for workflow tasks');
  log.warn('something else');
  expect(lines).toEqual(['something else']);
});

it('own worker: a runtime that somebody installed keeps its log', async () => {
  const logger = new WorkerLogger('ERROR');
  const runtime = Runtime.install({ logger });
  installWorkerLogger();
  expect(Runtime.instance()).toBe(runtime);
  await runtime.shutdown();
});
