/** Whose failure it is if the deadline passes while a prompt is followed or a command runs. Tier: temporal. */
import { describe, expect, it } from 'vitest';
import type { FaultInput } from '../../../../local-service/src/index.js';
import { ApiError } from '../../../../src/client/index.js';
import { errorMeaning } from '../../../../src/contract/workflow-safe/error-codes.js';
import type { JobInput } from '../../../../workflows/index.js';
import { atDeadline } from '../../at-deadline.js';
import { shareChangedStand } from '../../changed-stand.js';
import { progressOf } from '../../job-progress.js';
import { endFaults, script, shortTiming } from '../../workflow-harness.js';

const { stand, change } = shareChangedStand();

/** An eighth of the time for the clean-up is that of the interrupt. */
const timing = { ...shortTiming, cleanUpMs: 24_000 };

const unavailable = (endpoint: string) =>
  ({ kind: 'error', endpoint, status: 500, code: 'http_500', times: 100_000 }) as FaultInput;
const forbidden = (endpoint: string) =>
  ({ kind: 'error', endpoint, status: 403, code: 'forbidden', times: 100_000 }) as FaultInput;

/** Each sandbox runs so many commands, and refuses all others. @returns true once a sandbox has refused one */
function refuseCommandsAfter(most: number, status: number, code: string) {
  const ran = new Map<string, number>();
  change.runCommand = async (sandboxId, ...rest) => {
    const before = ran.get(sandboxId) ?? 0;
    ran.set(sandboxId, before + 1);
    if (before < most) return stand.api.runCommand(sandboxId, ...rest);
    const fields = { endpoint: 'runCommand', meaning: errorMeaning(status, code), typed: true } as const;
    throw new ApiError(code, { ...fields, status, code, requestId: null, retryAfterMs: null, details: null });
  };
  return (sandboxId: string) => (ran.get(sandboxId) ?? 0) > most;
}

/** A job at its deadline, in this phase. @param isReached whether the service has come there too */
async function atDeadlineIn(
  phase: string,
  over: Partial<JobInput>,
  faults: readonly FaultInput[],
  isReached: (sandboxId: string) => boolean = () => true,
) {
  const { result } = await atDeadline(3_000, {
    start: async (deadlineMs) => {
      await endFaults(stand);
      for (const fault of faults) await stand.fault(fault);
      return stand.start({ timing, ...over, deadlineMs });
    },
    reached: async (handle) => {
      const job = await progressOf(handle);
      return job.phase === phase && isReached(job.sandboxId ?? '');
    },
  });
  expect(result.outcome).toBe('deadline_exceeded');
  return result;
}

/** A job at its deadline, whose prompt then had this status in the books of the service. */
const followedAtDeadline = (commands: string, status: string, faults: readonly FaultInput[]) =>
  atDeadlineIn('following', { prompts: [{ prompt: script(commands) }] }, faults, (sandboxId) => {
    const [prompt] = stand.service.books.prompts({ sandboxId });
    return prompt?.status === status;
  });

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
    expect((await followedAtDeadline(commands, status, faults)).failureClass).toBe(failureClass);
  });

  /** What was interrupted reads as completed, without the time of its end. */
  const showNoEnd = () => {
    change.getPrompt = async (...args) => {
      const { prompt, ...answer } = await stand.api.getPrompt(...args);
      const isOver = prompt.endedAt !== null;
      return { ...answer, prompt: isOver ? { ...prompt, status: 'completed', endedAt: null, result: '' } : prompt };
    };
  };

  it('is a failure of the agent if its prompt reads completed after the interrupt, without a time', async () => {
    showNoEnd();
    expect(await followedAtDeadline('sleep 600', 'running', [])).toMatchObject({
      failureClass: 'agent',
      prompts: [{ status: 'completed', endedAt: null }],
    });
  });

  it.each([
    ['was not interrupted', []],
    ['may not be interrupted', [forbidden('interruptSandbox')]],
  ])('is a failure of the service if such a prompt %s', async (_, faults) => {
    let isOver = false;
    const interrupt = stand.api.interruptSandbox;
    showNoEnd();
    const read = change.getPrompt;
    change.getPrompt = async (...args) => {
      if (!isOver) throw new TypeError('Nothing is shown before the deadline.');
      return (read ?? stand.api.getPrompt)(...args);
    };
    change.interruptSandbox = (...args) => {
      isOver = true;
      return interrupt(...args);
    };
    expect((await followedAtDeadline('echo', 'completed', faults)).failureClass).toBe('service');
  });

  it('is a failure of the agent if the answer to the interrupt has no number', async () => {
    change.interruptSandbox = async (...args) => {
      const { interrupted: _, ...answer } = await stand.api.interruptSandbox(...args);
      return answer as typeof answer & { interrupted: number };
    };
    showNoEnd();
    expect((await followedAtDeadline('sleep 600', 'running', [])).failureClass).toBe('agent');
  });
});

describe.each([
  ['checking', { checks: ['sleep 600'] }, 'check'],
  ['running_commands', { commands: ['sleep 600'] }, 'setup'],
] as const)('a deadline that passes while a command runs (%s)', (phase, over, failureClass) => {
  it(`is a failure of the ${failureClass}, that runs on`, async () => {
    expect((await atDeadlineIn(phase, over, [])).failureClass).toBe(failureClass);
  });

  it.each(['stop', 'delete'] as const)('is a failure of the service if it runs no command (%s)', async (end) => {
    expect((await atDeadlineIn(phase, { ...over, end }, [unavailable('runCommand')])).failureClass).toBe('service');
  });

  it.each([
    [429, 'rate_limited', failureClass],
    [403, 'forbidden', failureClass],
    [400, 'machine_not_running', 'machine'],
    [404, 'sandbox_not_found', 'machine'],
    [503, 'http_503', 'service'],
  ])('is told from what refuses the removal of its marker (%i %s)', async (status, code, expected) => {
    refuseCommandsAfter(1, status, code);
    expect((await atDeadlineIn(phase, over, [])).failureClass).toBe(expected);
  });
});

describe('a deadline that passes during checks', () => {
  it('is a failure of the check, whatever the commands of the end meet', async () => {
    refuseCommandsAfter(3, 503, 'http_503');
    const result = await atDeadlineIn('checking', { checks: ['sleep 600'], always: ['true'] }, []);
    expect(result).toMatchObject({ failureClass: 'check', always: [{ exitCode: 0 }] });
  });

  it('is a failure of the service if they have passed, and their markers cannot be removed', async () => {
    const hasRefused = refuseCommandsAfter(1, 503, 'http_503');
    const patient = { ...timing, cleanUpMs: 300_000 };
    const result = await atDeadlineIn('checking', { checks: ['true'], timing: patient }, [], hasRefused);
    expect(result.failureClass).toBe('service');
  });
});
