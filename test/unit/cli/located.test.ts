import { expect, it } from 'vitest';
import { namedIn } from '../../../src/cli/located.js';
import { createProgram } from '../../../src/cli/program.js';

it.each([
  ['run hello --id=one --get out/secret.md', 'sandflow run --id --get'],
  ['run fix --prompt --unknown --detach -- --json', 'sandflow run --prompt --detach'],
  ['fanout report b1 --json', 'sandflow fanout report'],
  ['jobs list', 'sandflow jobs list'],
  ['hello there', 'sandflow'],
])('of %j, the names are %j, without values', (words, names) => {
  expect(namedIn(createProgram({} as never, '0.1.0'), words.split(' '))).toBe(names);
});
