/** The JSON file of `--config`. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { reasoningEfforts } from '../../../src/contract/workflow-safe/reasoning-efforts.js';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { checkInput, problemLine } from '../../../src/settings/input-problems.js';
import { repeatedField } from '../../../src/texts/lost-fields.js';
import { withoutMark } from '../../../src/texts/parse-json.js';
import { agentOutputs } from '../agent/index.js';
import type { LocalServiceLimits } from '../core/context.js';
import { type DeviationName, deviationNames } from '../deviations/deviations.js';
import { agentCredentialsSchema, repoHostSchema } from '../environments/logins.js';
import { localReposSchema } from '../environments/repos.js';
import type { LocalServiceOptions } from '../index.js';
import { networkSettingSchema } from '../machine/index.js';
import { defaultTimings } from '../timings.js';

const count = z.number().int().nonnegative();
const timingNames = Object.keys(defaultTimings) as (keyof typeof defaultTimings)[];

/** The settings of `local-service.json`. */
export const localConfigSchema = z
  .strictObject({
    /** Provider → the command that runs its prompts inside the sandbox; it gets the prompt on stdin. */
    commandAgents: z.record(
      z.string(),
      z.strictObject({
        command: z.string().min(1),
        output: z.enum(agentOutputs).optional(),
        login: z.array(z.string().min(1)).min(1).optional(),
        isolation: z.literal('plain').optional(),
      }),
    ),
    scriptedProviders: z.array(z.string()),
    models: z.record(
      z.string(),
      z
        .array(
          z.strictObject({ model: z.string().min(1), reasoningEfforts: z.array(z.enum(reasoningEfforts)).optional() }),
        )
        .min(1),
    ),
    defaultProvider: z.string().min(1).nullable(),
    timings: z.strictObject(Object.fromEntries(timingNames.map((name) => [name, count.optional()]))),
    limits: z
      .strictObject({
        ...{ requestsPerSecond: count, requestsPerMinute: count },
        ...{ activeSandboxes: count, activeSandboxesPerMember: count, sandboxesPerDay: count },
      } satisfies Record<keyof LocalServiceLimits, z.ZodType>)
      .partial(),
    deviations: z.array(z.enum(deviationNames)),
    isolation: z.enum(['auto', 'bubblewrap', 'plain']),
    programs: z.array(z.string().min(1)),
    network: networkSettingSchema,
    repos: localReposSchema,
    repoHost: repoHostSchema,
    agentCredentials: agentCredentialsSchema,
    strictWebhookUrls: z.boolean(),
    faultsEnabled: z.boolean(),
  })
  .partial();

const badUsage = (message: string, cause?: unknown) => new SandflowError('bad_usage', message, { cause });

interface ConfigFile {
  readonly path: string;
  /** True if the file may be missing. */
  readonly optional: boolean;
}

export type LocalConfig = Pick<LocalServiceOptions, keyof z.infer<typeof localConfigSchema>>;

/** Says that the file has other settings than `loaded`, or wrong ones; undefined if it has the same. Never throws. */
export async function changeOf(file: ConfigFile, loaded: LocalConfig): Promise<string | undefined> {
  const changed = `${file.path} has changed since the local service started`;
  try {
    return isDeepStrictEqual(await readLocalConfig(file), loaded) ? undefined : `${changed}.`;
  } catch (error) {
    return `${changed}, and is not usable until it is corrected. ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Reads and checks the file.
 * @throws SandflowError `bad_usage` naming the file and every setting that is wrong
 */
export async function readLocalConfig({ path, optional }: ConfigFile): Promise<LocalConfig> {
  return (await read('--config', path, localConfigSchema, { optional })) ?? {};
}

/** The deviations in a record of `sandflow doctor --probe`. @throws SandflowError `bad_usage` */
export async function readDeviations(path: string): Promise<readonly DeviationName[]> {
  const record = await read('--assume', path, z.object({ deviations: z.array(z.enum(deviationNames)) }));
  return record?.deviations ?? [];
}

async function read<Output>(
  option: string,
  path: string,
  schema: z.ZodType<Output>,
  { optional = false } = {},
): Promise<Output | undefined> {
  let text: string;
  try {
    text = withoutMark(await readFile(path, 'utf8'));
  } catch (cause) {
    if (optional && cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw badUsage(`${option}: ${path} cannot be read. Check that it exists and is readable.`, cause);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw badUsage(`${option}: ${path} is not valid JSON.`, cause);
  }
  const repeated = repeatedField(text);
  if (repeated !== undefined) throw badUsage(`${option}: ${path}: ${repeated} occurs twice in one object.`);
  const { data, problems } = checkInput(schema, json);
  if (problems === null) return data;
  throw badUsage(`${option}: ${path}: ${problems.map(problemLine).join('; ')}.`);
}
