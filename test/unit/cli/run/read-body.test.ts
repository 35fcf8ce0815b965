import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readBody } from '../../../../src/cli/run/read-body.js';
import { optionNameOf } from '../../../../src/cli/settings/checked-input.js';
import { temporaryDirectory } from '../temporary-directory.js';

it('further fields of a request are read from the command line or from a file', async () => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, 'body.json'), '{"team": "blue"}');
  expect(await readBody('{"team": "blue"}', '--create-body', cwd)).toEqual({ team: 'blue' });
  expect(await readBody('@body.json', '--create-body', cwd)).toEqual({ team: 'blue' });
  await writeFile(join(cwd, 'marked.json'), '\uFEFF{"team": "blue"}');
  expect(await readBody('@marked.json', '--create-body', cwd)).toEqual({ team: 'blue' });
  expect(await readBody(undefined, '--create-body', cwd)).toEqual({});
});

it.each(['team=blue', '["team"]', 'null', '"team"'])('further fields are refused as %s', async (given) => {
  await expect(readBody(given, '--prompt-body', '/')).rejects.toThrow('--prompt-body must be a JSON object');
});

it.each(['12345678901234567890', '0.12345678901234567', '-1e999'])(
  'a number that would lose digits is refused in further fields: %s',
  async (number) => {
    const given = `{"a": [{"b": ${number}}]}`;
    await expect(readBody(given, '--create-body', '/')).rejects.toThrow(`the number ${number} would lose digits`);
    expect(await readBody('{"a": [1.50, -2e3, 9007199254740991, "1e999"]}', '--create-body', '/')).toEqual({
      a: [1.5, -2_000, 9_007_199_254_740_991, '1e999'],
    });
  },
);

it.each([
  ['source.body.enviroment', '--create-body: enviroment'],
  ['source.snapshot', '--create-body: snapshot'],
  ['prompts.0.modle', '--prompt-body: modle'],
  ['policy.forkBody.type', '--type'],
  ['policy.forkBody.name', '--fork-body: name'],
  ['prompts.0.prompt', 'the prompts'],
  ['source.sandboxId', 'the sandbox (--sandbox, --fork or --from)'],
])('a wrong field %s is named as %s', (field, option) => {
  const command = field.startsWith('policy') ? 'fanout' : 'run';
  expect(optionNameOf(command, field.split('.'))).toBe(option);
});
