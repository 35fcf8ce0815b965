/** What YAML takes for a number or a word, where a text was meant. In the gate; costs a second. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readYaml } from '../../../../src/settings/read-yaml.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

const digits = [
  ...['1.10', '3.0', '007', '0x1F', '0o17', '1e3', '1E5', '12345678901234567890', '+5', '-0', '.5', '5.'],
  ...['.inf', '-.INF', '.nan', '1e400'],
];
const words = ['True', 'FALSE'];
const oldWords = ['yes', '1:30', '1_000', '2026-11-20'];

/** Files in which a text is expected, and the command that reads each. */
const files: readonly (readonly [what: string, args: readonly string[], text: (value: string) => string])[] = [
  ['a prompt', ['run'], (value) => `prompt: ${value}`],
  ['a snapshot', ['run'], (value) => `prompt: hi\nfrom: ${value}`],
  ['a label', ['run'], (value) => `prompt: hi\nlabels: {version: ${value}}`],
  ['a field of a request', ['run'], (value) => `prompt: hi\npromptBody: {tag: ${value}}`],
  ['a title', ['fanout'], (value) => `items: [hi]\ntitle: ${value}`],
  ['a command', ['fanout'], (value) => `items: [hi]\ncommand: [make, ${value}]`],
  ['a name of a rule', ['cleanup', 'validate'], (value) => `rules: [{rule: ${value}, action: stop}]`],
  ['a pattern', ['cleanup', 'validate'], (value) => `protect: [${value}]\nrules: []`],
  ['a file to schedule', ['schedule', 'add', 'n'], (value) => `prompt: hi\npromptBody: {tag: ${value}}`],
];

const refuse = (lines: readonly string[]) => new Error(lines.join('\n'));
const anything = { file: 'f', schema: z.unknown(), whole: 'the file', refuse };

describe.each(files)('%s that YAML takes for a number', (_, args, text) => {
  it.each(digits)('is refused with its digits: %s', async (written) => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'f.yaml'), `${text(written)}\n`);
    const { exitCode, stderr } = await cli([...args, 'f.yaml', ...(args[1] === 'add' ? ['--cron=@daily'] : [])], {
      cwd,
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`Write "${written}" for the text`),
    });
  });
});

describe('the name of a field is a text', () => {
  it.each([...digits, ...words, '~', 'null'])('as it is written: %s', (written) => {
    expect(readYaml(`labels: {${written}: x}`, anything)).toEqual({ labels: { [written]: 'x' } });
  });
});

describe('data of an item', () => {
  const data = { ...anything, textsBelow: 'items' };

  it.each([...digits, ...words])('are as they are written: %s', (written) => {
    const text = `items: [{a: ${written}, b: [${written}], c: {${written}: ${written}}}]`;
    const item = { a: written, b: [written], c: { [written]: written } };
    expect(readYaml(text, data)).toEqual({ items: [item] });
  });

  it.each(oldWords)('are as they are written in YAML 1.1: %s', (written) => {
    expect(readYaml(`%YAML 1.1\n---\nitems: [{a: ${written}}]`, data)).toEqual({ items: [{ a: written }] });
  });

  it('keep their shape', () => {
    const text = 'items: [{a: [1, 2.5, true], b: ~, c: {d: 7}}, 42]';
    const [item] = [{ a: [1, 2.5, true], b: null, c: { d: 7 } }];
    expect(readYaml(text, data)).toEqual({ items: [item, '42'] });
  });
});

it('a number that is written as a number is one', () => {
  expect(readYaml('a: [0, 7, 2.5, -3]', anything)).toEqual({ a: [0, 7, 2.5, -3] });
});
