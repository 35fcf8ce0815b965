import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { endedText, readStackRecord } from '../../../src/supervisor/stack-record.js';
import { createStackWatch, type StackWatch } from '../../../src/supervisor/stack-watch.js';

let recordFile: string;
beforeEach(async () => {
  const home = await mkdtemp(join(tmpdir(), 'sandflow-record-'));
  onTestFinished(() => rm(home, { recursive: true }));
  recordFile = join(home, 'stack.json');
});

/** A supervisor of the home, as it is after its start. */
async function next(foreground = false): Promise<StackWatch> {
  const earlier = await readStackRecord(recordFile);
  return createStackWatch(readConfig({}), { foreground, clients: () => [], recordFile, earlier });
}
const keep = (watch: StackWatch) => watch.answer('keep');
const down = (watch: StackWatch) => watch.answer('force_end');
const interruptedStart = (watch: StackWatch) => watch.answer('end_start');
/** It ends by itself, or by the signal of a shutdown. */
const ends = (watch: StackWatch) => watch.close();
const dies = () => undefined;

it.each([
  ['up, killed', [keep, dies], true],
  ['up twice, killed', [keep, keep, dies], true],
  ['up, a shutdown', [keep, ends], true],
  ['up, a start that was interrupted', [keep, interruptedStart], true],
  ['up, down', [keep, down], false],
  ['a command, idle', [ends], false],
  ['a command, down', [down], false],
])('after %s, the next stack is kept up: %j', async (_, steps, kept) => {
  const first = await next();
  for (const step of steps) await step(first);
  expect((await readStackRecord(recordFile))?.kept ?? false).toBe(kept);
  expect((await (await next()).answer('status')).kept).toBe(kept);
});

it('a stack that was brought back is kept until its own down', async () => {
  await keep(await next());
  await ends(await next());
  await ends(await next(true));
  expect((await (await next()).answer('status')).kept).toBe(true);
  await down(await next());
  expect(await readStackRecord(recordFile)).toBeUndefined();
});

it('a stack in the foreground ends with its command, and whoever asks to keep it changes nothing', async () => {
  const dev = await next(true);
  await keep(dev);
  await ends(dev);
  expect(await readStackRecord(recordFile)).toBeUndefined();
});

it('what is no record is none, and holds up nobody', async () => {
  await mkdir(recordFile);
  expect(await readStackRecord(recordFile)).toBeUndefined();
  expect((await down(await next())).state).toBe('ending');
});

it.each([
  [
    { kept: true, openJobs: 1, activeSchedules: 5 },
    /of `sandflow up` ended .* On hold since then: 1 open workflow and 5 active schedules\.$/,
  ],
  [{ kept: true, openJobs: 0, activeSchedules: 1 }, /since then: 1 active schedule\.$/],
  [{ kept: false, openJobs: null, activeSchedules: null }, /^The stack ended .*Z\.$/],
])('the text about %j says what waits', (record, said) => {
  expect(endedText({ seenAt: '2026-01-02T03:04:05.000Z', ...record })).toMatch(said);
});
