import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { grammarProblems } from '../house/cli-grammar.js';
import { readSource } from '../house/source-imports.js';

it('the unit of docs/schedules.md runs a command that stays in the foreground, and starts it again', () => {
  const [, unit = ''] = /```ini\n(.*?)```/s.exec(readSource('docs/schedules.md')) ?? [];
  const [, command = ''] = /^ExecStart=\S+\/sandflow (.*)$/m.exec(unit) ?? [];
  expect(command).toBe('up --foreground');
  expect(grammarProblems(command.split(' '))).toEqual([]);
  expect(unit).toMatch(/^Restart=always$/m);
});

it.each([
  ['127.12.34.56', 0],
  // systemd expands a variable in braces to one word, also to an empty one.
  ['', 1],
])('the unit of Temporal checks the address of its UI: "%s" ends the check with %i', (ip, status) => {
  const [, check = ''] = /^ExecStartPre=(.*)$/m.exec(readSource('deploy/systemd/temporal.service')) ?? [];
  const [program = '', ...words] = check.split(' ').map((word) => (/^\$\{TEMPORAL_UI_IP\}$/.test(word) ? ip : word));
  expect(words).toContain(ip);
  expect(spawnSync(program, words).status).toBe(status);
});
