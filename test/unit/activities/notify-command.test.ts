import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runNotifyCommand } from '../../../activities/notification/run-command.js';

it('a command gets one line for each notification, so that it can append them to a file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-notify-'));
  const file = join(directory, 'notified.jsonl');
  const { signal } = new AbortController();
  for (const input of ['{"id":"1"}', '{"id":"2"}'])
    expect(await runNotifyCommand(`cat >> ${file}`, { input, signal })).toBe(0);
  expect(await readFile(file, 'utf8')).toBe('{"id":"1"}\n{"id":"2"}\n');
  await rm(directory, { recursive: true });
});
