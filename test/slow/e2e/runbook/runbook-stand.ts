/** A stack in parts, and the printed commands of an incident, one at a time. */
import { expect, vi } from 'vitest';
import type { Ended } from '../../../e2e/cli/program.js';
import { booksOf, patient, readBooks } from '../../../e2e/stack/fixture.js';
import { createParts, type LocalService, type PartsOfStack } from '../../../e2e/stack/fixture-parts.js';
import { printedCommands } from './printed-commands.js';

type Values = Readonly<Record<string, string>>;

export interface RunbookStand {
  readonly parts: PartsOfStack;
  readonly service: LocalService;
  /** Settings of the commands, and of a worker that runs. */
  readonly env: Values;
  run(args: readonly string[], env?: Values): Promise<Ended>;
  startJob(id: string, args: readonly string[], env?: Values): Promise<void>;
  /** Repeats a command until its output matches, and returns the output. */
  until(args: readonly string[], text: string | RegExp, env?: Values): Promise<string>;
  /** The id of the first sandbox of a job. */
  sandboxOf(jobId: string): Promise<string>;
  promptsOf(jobId: string): Promise<number>;
}

/** The commands that are printed for an incident. */
export interface PrintedSteps {
  /** Runs the next command. */
  next(): Promise<Ended>;
  /** Leaves out the next command, which serves until it is killed: the test starts it with addresses of its own. */
  serves(name: 'worker' | 'bridge'): void;
  /** Fails if a command is left. */
  done(): void;
}

/** @param settings of commands and the worker, besides those of the stand */
export async function createRunbookStand(settings: Values = {}): Promise<RunbookStand> {
  const parts = await createParts();
  const service = await parts.startService('service', { faultsEnabled: true });
  const env = { ...parts.environment(service, 'shared'), ...settings };
  await parts.startWorker(env);
  const run: RunbookStand['run'] = (args, own = env) => parts.cli.run(args, own);
  return {
    parts,
    service,
    env,
    run,
    async startJob(id, args, own) {
      const started = await run(['run', ...args, '--id', id, '--detach'], own);
      expect(started, started.stderr).toMatchObject({ exitCode: 0 });
    },
    async until(args, text, own) {
      let output = '';
      const look = async () => {
        const { stdout, stderr } = await run(args, own);
        output = stdout + stderr;
        expect(output).toMatch(text);
      };
      await vi.waitFor(look, { ...patient, interval: 500 });
      return output;
    },
    async sandboxOf(jobId) {
      const [sandbox] = booksOf(jobId, await readBooks(service)).sandboxes;
      if (!sandbox) throw new Error(`The job ${jobId} has no sandbox.`);
      return sandbox.id;
    },
    promptsOf: async (jobId) => booksOf(jobId, await readBooks(service)).prompts.length,
  };
}

/** @param values replace the placeholders of the runbook, such as JOB */
export function printedSteps(
  title: string,
  values: Values,
  run: (args: readonly string[]) => Promise<Ended>,
): PrintedSteps {
  const commands = printedCommands(title, values);
  return {
    next: () => run(commands.shift() ?? []),
    serves: (name) => expect(commands.shift()?.[0]).toBe(name),
    done: () => expect(commands).toEqual([]),
  };
}
