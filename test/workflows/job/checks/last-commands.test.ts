/** Commands that follow proven work, and those of every end, run at most once each. Gate. */
import { expect, it, vi } from 'vitest';
import type { JobInput } from '../../../../workflows/index.js';
import { shareChangedStand } from '../../changed-stand.js';
import { progressOf } from '../../job-progress.js';
import { letGo, patient, script, shortTiming, untilGo } from '../../workflow-harness.js';

const { stand } = shareChangedStand();

const start = (over: Partial<JobInput>) => stand.start({ end: 'keep', onUnknownOutcome: 'abandon', ...over });
const run = async (over: Partial<JobInput>) => (await start(over)).result();
const readFile = async (id: string | null, path: string) => (await stand.api.readFile(id ?? '', path)).content;

it('proven work is followed by its commands, whose files are collected, and by those of every end', async () => {
  const result = await run({
    prompts: [{ prompt: script('touch fixed') }],
    checks: ['test -e fixed'],
    after: ['echo pushed >> log', 'cp log note; echo done'],
    always: ['exit 3', 'echo always >> log'],
    collect: ['note'],
  });
  expect(result).toMatchObject({
    outcome: 'completed',
    after: [{ exitCode: 0 }, { exitCode: 0, output: 'done' }],
    always: [{ command: 'exit 3', exitCode: 3 }, { exitCode: 0 }],
    files: [{ path: 'note', size: 7, partial: false }],
  });
  expect(await readFile(result.sandboxId, 'log')).toBe('pushed\nalways\n');
});

it('work that is not proven is followed by the commands of every end only', async () => {
  const result = await run({ checks: ['false'], after: ['echo pushed >> log'], always: ['echo always >> log'] });
  expect(result).toMatchObject({ outcome: 'unverified', always: [{ exitCode: 0 }] });
  expect(result).not.toHaveProperty('after');
  expect(await readFile(result.sandboxId, 'log')).toBe('always\n');
});

it('a command after proven work that fails fails the job, and none follows it', async () => {
  const result = await run({ after: ['echo "no remote" >&2; exit 4', 'touch next'], always: ['ls'] });
  expect(result).toMatchObject({
    outcome: 'sandbox_failed',
    error: { code: 'after_failed', message: 'The command "echo "no remote" >&2; exit 4" exited with 4: no remote' },
    after: [{ exitCode: 4, output: 'no remote' }],
  });
  expect(result.always?.[0]?.output).not.toContain('next');
});

it('a push runs once if its worker ends between its start and its answer', async () => {
  const handle = await start({ after: [`echo ran >> runs; ${untilGo}`] });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('running_commands');
  const { sandboxId } = await progressOf(handle);
  await vi.waitFor(async () => expect(await readFile(sandboxId, 'runs')).toBe('ran\n'), patient);
  await stand.restartWorker();
  await letGo(stand, sandboxId);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', after: [{ exitCode: 0 }] });
  expect(await readFile(sandboxId, 'runs')).toBe('ran\n');
});

it('a cancel during a check is followed by the commands of every end, and one that hangs ends with its time', async () => {
  const timing = { ...shortTiming, cleanUpMs: 16_000 };
  const handle = await start({ checks: [untilGo], checkBefore: false, always: ['echo told', 'sleep 600'], timing });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('checking');
  await handle.cancel();
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'cancelled', left: [{ kind: 'command' }] });
  expect(result.always?.[0]).toMatchObject({ exitCode: 0, output: 'told' });
});
