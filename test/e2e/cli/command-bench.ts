/** Runs commands on the stack of one home, and knows which commands of the grammar have succeeded. */
import type { Command } from 'commander';
import { expect } from 'vitest';
import { createProgram } from '../../../src/cli/program.js';
import { type CliOutcome, cli as runInProcess } from '../../unit/cli/in-process.js';
import { type CliHome, createCliHome, type Ended } from './program.js';

const silent = { write: () => true };
const io = {
  stdin: (async function* () {})(),
  stdout: silent,
  stderr: silent,
  cwd: '/',
  main: { command: 'node', args: [] },
  readConfig: () => Promise.reject(new Error('a grammar needs no settings')),
  interrupted: new AbortController().signal,
};

/** Every command that does something, with its full name, such as `jobs list`. Includes hidden ones. */
export function actingCommands(): string[] {
  const below = (parent: Command, prefix: string): string[] =>
    parent.commands.flatMap((command) => {
      const name = `${prefix}${command.name()}`;
      // Commander has no public way to ask for it. A group without an action only prints its help.
      const acts = command.commands.length === 0 || Reflect.get(command, '_actionHandler') !== null;
      return [...(acts ? [name] : []), ...below(command, `${name} `)];
    });
  return below(createProgram({ io, jobId: null, exitCode: 0 }, '0.0.0'), '').filter((name) => name !== 'help');
}

export interface CommandBench {
  readonly cli: CliHome;
  /** Commands that have ended with 0. */
  readonly succeeded: ReadonlySet<string>;
  /** Runs a command in the process of the test. It can join the stack of the home, and cannot start one. */
  run(args: readonly string[]): Promise<CliOutcome>;
  /** Runs a command in the process of the test. @returns what it prints on stdout, once it has ended with 0 */
  done(...args: readonly string[]): Promise<string>;
  /** Runs the built command line. @returns how it has ended, which is with 0 */
  built(...args: readonly string[]): Promise<Ended>;
  /** Counts a command as run that has served since its start. */
  served(...args: readonly string[]): void;
}

export function createCommandBench(): CommandBench {
  const cli = createCliHome();
  const succeeded = new Set<string>();
  const known = actingCommands().toSorted((a, b) => b.length - a.length);
  const count = (args: readonly string[]) => {
    const name = known.find((one) => `${args.join(' ')} `.startsWith(`${one} `));
    if (name !== undefined) succeeded.add(name);
  };
  const run: CommandBench['run'] = async (args) => {
    const ended = await runInProcess(args, { cwd: cli.home, env: { SANDFLOW_HOME: cli.home } });
    if (ended.exitCode === 0) count(args);
    return ended;
  };
  return {
    cli,
    succeeded,
    run,
    async done(...args) {
      const ended = await run(args);
      expect(ended.exitCode, `${args.join(' ')}: ${ended.stdout}${ended.stderr}`).toBe(0);
      return ended.stdout;
    },
    async built(...args) {
      const ended = await cli.run(args);
      expect(ended.exitCode, `${args.join(' ')}: ${ended.stdout}${ended.stderr}`).toBe(0);
      count(args);
      return ended;
    },
    served: (...args) => count(args),
  };
}
