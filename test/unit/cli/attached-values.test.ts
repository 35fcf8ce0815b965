import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { requireAttachedValues } from '../../../src/cli/attached-values.js';

const command = new Command('run').option('--get-diff [remote]').option('--prompt <text>').option('--json');

describe('an option whose value may be left out', () => {
  it.each([
    [['Fix it', '--get-diff']],
    [['Fix it', '--get-diff', '--json']],
    [['--get-diff=app', 'Fix it']],
    [['--prompt', '--get-diff', 'Fix it']],
    [['--', '--get-diff', 'Fix it']],
    [['--get-diff', '--', 'Fix it']],
  ])('is accepted in %j', (args) => expect(() => requireAttachedValues(command, args)).not.toThrow());

  it.each([
    [['--get-diff', 'Fix it'], '--get-diff: "Fix it" could be its folder', '--get-diff=FOLDER'],
    [['Fix it', '--get-diff', 'app'], '"app" could be its folder', '--get-diff=app '],
    [['Fix it', '--get-diff', '-'], '"-" could be its folder', '--get-diff=FOLDER'],
    [['Fix it', '--get-diff', ''], '"" could be its folder', '--get-diff=FOLDER'],
  ])('never takes a separate word: %j', (args, what, mend) => {
    expect(() => requireAttachedValues(command, args)).toThrow(what);
    expect(() => requireAttachedValues(command, args)).toThrow(mend);
  });
});
