/** Whose failure it is if the deadline passes while a prompt is followed. Tier: temporal. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FaultInput } from '../../../../local-service/src/index.js';
import { atDeadline } from '../../at-deadline.js';
import { progressOf } from '../../job-progress.js';
import { createStand, endFaults, type Stand, script, shortTiming } from '../../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

/** An eighth of the time for the clean-up is that of the interrupt. */
const timing = { ...shortTiming, cleanUpMs: 24_000 };

const unavailable = (endpoint: string) =>
  ({ kind: 'error', endpoint, status: 500, code: 'http_500', times: 100_000 }) as FaultInput;
const forbidden = (endpoint: string) =>
  ({ kind: 'error', endpoint, status: 403, code: 'forbidden', times: 100_000 }) as FaultInput;

/** A job at its deadline, whose prompt then had this status in the books of the service. */
async function atDeadlineOf(commands: string, status: string, faults: readonly FaultInput[]) {
  onTestFinished(() => endFaults(stand));
  const { result } = await atDeadline(3_000, {
    start: async (deadlineMs) => {
      await endFaults(stand);
      for (const fault of faults) await stand.fault(fault);
      return stand.start({ prompts: [{ prompt: script(commands) }], deadlineMs, timing });
    },
    reached: async (handle) => {
      const { sandboxId, phase } = await progressOf(handle);
      const [prompt] = stand.service.books.prompts({ sandboxId: sandboxId ?? '' });
      return phase === 'following' && prompt?.status === status;
    },
  });
  expect(result.outcome).toBe('deadline_exceeded');
  return result;
}

describe('a deadline that passes while a prompt is followed', () => {
  it.each([
    ['the agent, that works on', 'sleep 600', 'running', [], 'agent'],
    [
      'the service, that does not show that the agent has ended',
      'echo',
      'completed',
      [unavailable('getPrompt')],
      'service',
    ],
    [
      'the agent, if only its interrupt shows that it works on',
      'sleep 600',
      'running',
      [unavailable('getPrompt')],
      'agent',
    ],
    ['the agent, if it may not be interrupted', 'sleep 600', 'running', [forbidden('interruptSandbox')], 'agent'],
    [
      'the service, if nothing shows what the agent does',
      ...['sleep 600', 'running'],
      [unavailable('getPrompt'), unavailable('interruptSandbox')],
      'service',
    ],
  ] as const)('is a failure of %s', async (_, commands, status, faults, failureClass) => {
    expect((await atDeadlineOf(commands, status, faults)).failureClass).toBe(failureClass);
  });
});
