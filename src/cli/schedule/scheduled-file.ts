/** Reads the file that a schedule runs: of a job, a batch or a cleanup. Loads no heavy module. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import type { CleanupPolicy } from '../../retention/index.js';
import { readYaml } from '../../settings/read-yaml.js';
import { readPolicyFile } from '../cleanup/policy-file.js';
import type { CommandContext, Parent } from '../command.js';
import { declareFanout, type FanoutOptions } from '../fanout/options.js';
import type { FanoutCommand } from '../fanout/read-fanout.js';
import { programName } from '../program-name.js';
import { declareRun, type RunOptions } from '../run/options.js';
import type { RunCommand } from '../run/read-run.js';
import { applyFiles, namesYaml } from '../settings/apply-files.js';
import { readTextFile } from '../text-file.js';
import { UsageError } from '../usage-error.js';

/** What a file says, checked. */
export type ScheduledFile = {
  /** The command that would run the file now. */
  readonly words: readonly string[];
} & (
  | { readonly kind: 'job'; readonly read: RunCommand; readonly options: RunOptions }
  | { readonly kind: 'batch'; readonly read: FanoutCommand; readonly options: FanoutOptions }
  | { readonly kind: 'cleanup'; readonly policy: CleanupPolicy }
);

/** @throws UsageError, and what the command that runs the file throws */
export async function readScheduledFile(file: string, context: CommandContext): Promise<ScheduledFile> {
  const { io } = context;
  if (!namesYaml(file)) {
    throw new UsageError(
      `"${file}" is not a YAML file. A schedule runs the file of a job, a batch or a cleanup, such as job.yaml; \`${programName} run --help\` shows one.`,
    );
  }
  const fields = await fieldsOf(file, io.cwd);
  if (fields.includes('rules')) {
    return { words: ['cleanup', 'run', file], kind: 'cleanup', policy: await readPolicyFile(file, io) };
  }
  const command = fields.includes('items') ? 'fanout' : 'run';
  const words = [command, file];
  let read: ScheduledFile | undefined;
  const program = new Command('sandflow').exitOverride().configureOutput({ outputError: () => undefined });
  const parent = program as unknown as Parent;
  declareRun(parent).action(async (prompts, options) => {
    requireNoPlace(options.get, 'jobs watch JOB');
    const { readRun } = await import('../run/read-run.js');
    // A run saves nothing here, so a file of this folder is not in its way.
    read = { words, kind: 'job', read: await readRun(prompts, { ...options, detach: true }, io), options };
  });
  declareFanout(parent).action(async (items, options) => {
    requireNoPlace(options.get, 'fanout watch BATCH');
    const { readFanout } = await import('../fanout/read-fanout.js');
    read = { words, kind: 'batch', read: await readFanout(items, options, io), options };
  });
  applyFiles(program, context);
  // Its name may begin with a dash.
  await program.parseAsync([command, '--', file], { from: 'user' });
  if (!read) throw new UsageError(`${file} describes no job, batch or cleanup.`);
  return read;
}

/** The fields at the top of a YAML file. @throws UsageError naming the line of what is not YAML */
async function fieldsOf(file: string, cwd: string): Promise<readonly string[]> {
  const text = await readTextFile(resolve(cwd, file), `The file ${file}`);
  const refuse = (lines: readonly string[], cause?: unknown) =>
    new UsageError(`${file} cannot be scheduled:\n  ${lines.join('\n  ')}`, { cause });
  const schema = z.record(z.string(), z.unknown());
  return Object.keys(readYaml(text, { file, schema, whole: 'the file', textsBelow: 'items', refuse }));
}

/** A run of a schedule has no machine on which it could save a file. */
function requireNoPlace(gets: readonly string[], watch: string): void {
  const get = gets.find((one) => one.includes(':'));
  if (get === undefined) return;
  throw new UsageError(
    `get: ${get}: a schedule saves no files on this machine. Name only the file of the sandbox; \`${programName} ${watch} --get ${get}\` saves it.`,
  );
}
