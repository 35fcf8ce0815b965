import { describe, expect, it } from 'vitest';
import { program } from '../house/cli-grammar.js';

const namesOf = (word?: string) =>
  program(word)
    .commands.map((command) => command.name())
    .filter((name) => name !== 'help');

describe('a program for the first word of a command line', () => {
  it.each(namesOf())('declares %s, and not all other commands', (name) => {
    expect(namesOf(name)).toContain(name);
    expect(namesOf(name).length).toBeLessThanOrEqual(3);
  });

  it.each([['help'], ['--json'], ['jbos'], ['toString']])('declares all commands for %s', (word) => {
    expect(namesOf(word)).toEqual(namesOf());
  });
});
