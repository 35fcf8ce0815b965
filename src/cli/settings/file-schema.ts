/** What the files of settings may contain: `sandflow.json`, and the files of jobs and batches. */
import { z } from 'zod';
import { isSandboxId } from '../../contract/workflow-safe/ids.js';
import { type CommandSetting, settingsOn } from '../../job-settings/fields.js';
import type { Kind } from '../../job-settings/setting.js';
import { parseDurationMs, parseTtlSeconds } from '../units.js';

export type FileCommand = 'run' | 'fanout';

const fits = (parse: (text: string) => unknown) => (text: string) => {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
};

const name = z.string().min(1).max(200);
const text = z.string().min(1);
const oneOrMore = (schema: z.ZodType) => z.union([schema, z.array(schema).min(1)]);
const isDuration = fits((value) => parseDurationMs(value, 'setting'));
const durationText = 'must be a duration, like 90s, 30m, 2h or 1h30m';
const duration = z.string().refine(isDuration, durationText);

/** How a file writes a value of each kind. */
const written: Readonly<Partial<Record<Kind, (setting: CommandSetting) => z.ZodType>>> = {
  choice: ({ sets, values = [], option }) =>
    sets === undefined ? z.enum((option.values ?? values) as readonly [string, ...string[]]) : z.boolean(),
  name: () => name,
  text: () => text,
  template: () => text,
  duration: () => duration,
  ttl: ({ orNull }) =>
    z
      .string()
      .refine(
        (value) => (orNull === true && value === 'none') || fits(parseTtlSeconds)(value),
        'must be a duration from 1s on, like 30m or 2h',
      ),
  budget: () => duration,
  count: ({ least = 0, most = Number.MAX_SAFE_INTEGER, option }) =>
    z
      .number()
      .int()
      .min(least)
      .max(option.most ?? most),
  flag: () => z.boolean(),
  sandbox: () => z.string().refine(isSandboxId, 'must be the id of a sandbox, like bx_2345abcd'),
  prompts: () => oneOrMore(text),
  commands: () => oneOrMore(text),
  files: () => oneOrMore(text),
  paths: () => oneOrMore(text),
  folder: () => z.union([text, z.literal(true)]),
  labels: () => z.record(z.string().regex(/^[^=]+$/), z.string()),
  fields: () => z.union([z.record(z.string(), z.json()), z.string().regex(/^@./, 'must be an object, or @file')]),
  notify: () => text,
  escalation: () => text,
};

function schemaOf(setting: CommandSetting): z.ZodType {
  const schema = written[setting.kind]?.(setting) ?? z.never();
  const one = setting.option.several ? oneOrMore(schema) : schema;
  return one.describe(setting.option.help);
}

function shapeOf(settings: readonly CommandSetting[]): Record<string, z.ZodType> {
  return Object.fromEntries(settings.map((setting) => [setting.name, schemaOf(setting).optional()]));
}

/** A project cannot choose a sandbox that never stops by itself. */
const projectShape = (command: FileCommand) => {
  const permitted = settingsOn(command).filter(({ option }) => option.project);
  return z.strictObject(shapeOf(permitted.map(({ orNull: _, ...setting }) => setting))).optional();
};

/** `sandflow.json`. A setting is refused unless its row permits it: the file comes with the code and may be hostile. */
export const projectSchema = z.strictObject({ run: projectShape('run'), fanout: projectShape('fanout') });

export type FileSettings = Readonly<Record<string, unknown>>;

/** The file of a job: `sandflow run job.yaml`. */
export const jobFileSchema = z.strictObject(shapeOf(settingsOn('run')));

/** The file of a batch: `sandflow fanout batch.yaml`. */
export const batchFileSchema = z.strictObject({
  items: z
    .union([text, z.array(z.union([text, z.record(z.string(), z.json())])).min(1)])
    .describe('a file of items, or the items: each a prompt, or an object as in JSONL'),
  ...shapeOf(settingsOn('fanout')),
});
