import { expect, it } from 'vitest';
import { grammarProblems } from '../house/cli-grammar.js';
import { readSource } from '../house/source-imports.js';

it('the unit of docs/schedules.md runs a command that stays in the foreground, and starts it again', () => {
  const [, unit = ''] = /```ini\n(.*?)```/s.exec(readSource('docs/schedules.md')) ?? [];
  const [, command = ''] = /^ExecStart=\S+\/sandflow (.*)$/m.exec(unit) ?? [];
  expect(command).toBe('dev');
  expect(grammarProblems(command.split(' '))).toEqual([]);
  expect(unit).toMatch(/^Restart=always$/m);
});
