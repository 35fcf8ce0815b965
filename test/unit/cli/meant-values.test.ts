import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { requireMeantValues } from '../../../src/cli/meant-values.js';

const command = new Command('run')
  .option('--get-diff [remote]')
  .option('--prompt <text>')
  .option('--out <folder>')
  .option('--json');

describe('an option whose value may be left out', () => {
  it.each([
    [['Fix it', '--get-diff']],
    [['Fix it', '--get-diff', '--json']],
    [['--get-diff=app', 'Fix it']],
    [['--prompt', '--get-diff', 'Fix it']],
    [['--', '--get-diff', 'Fix it']],
    [['--get-diff', '--', 'Fix it']],
  ])('is accepted in %j', (args) => expect(() => requireMeantValues(command, args)).not.toThrow());

  it.each([[['--prompt', '']], [['--prompt=']], [['--json', '--prompt', '', 'x']]])(
    'refuses an empty value: %j',
    (args) => expect(() => requireMeantValues(command, args)).toThrow('--prompt has an empty value.'),
  );

  it.each(['~/x', '~', '"/x"', '$HOME/x', '$(pwd)/x', 'file:///x', '/x\r', '/x\n', '`x`', '/caf\ufffd'])(
    'refuses a path that no shell has expanded: %s',
    (path) => {
      for (const args of [[`--out=${path}`], ['--out', path]]) {
        expect(() => requireMeantValues(command, args)).toThrow(
          /^--out (?:begins|contains|ends|is a URL|is not UTF-8)/,
        );
      }
      expect(() => requireMeantValues(command, ['--out', '/x', '--prompt', path])).not.toThrow();
    },
  );

  it.each(['./~', './"x"', './$x', '-', '/x # y', ' /x', 'a\nb', '東京', 'a$b', 'x~'])(
    'takes any other path: %j',
    (path) => expect(() => requireMeantValues(command, [`--out=${path}`])).not.toThrow(),
  );

  it.each([
    [['--get-diff', 'Fix it'], '--get-diff: "Fix it" could be its folder', '--get-diff=FOLDER'],
    [['Fix it', '--get-diff', 'app'], '"app" could be its folder', '--get-diff=app '],
    [['Fix it', '--get-diff', '-'], '"-" could be its folder', '--get-diff=FOLDER'],
    [['Fix it', '--get-diff', ''], '"" could be its folder', '--get-diff=FOLDER'],
  ])('never takes a separate word: %j', (args, what, mend) => {
    expect(() => requireMeantValues(command, args)).toThrow(what);
    expect(() => requireMeantValues(command, args)).toThrow(mend);
  });
});
