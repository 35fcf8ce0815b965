/** Checks the input that the options of `run` or `fanout` describe, and names the options that set its fields. */
import type { z } from 'zod';
import { fieldOf, settingsOn } from '../../job-settings/fields.js';
import type { Kind } from '../../job-settings/setting.js';
import type { FanoutInput } from '../../protocol/fanout/fanout-input.js';
import type { JobInput, NewJob } from '../../protocol/job/job-input.js';
import { checkInput } from '../../settings/input-problems.js';
import { fanoutInputSchema, type NewFanout } from '../../workflow-client/fanouts/fanout-input.js';
import { jobInputSchema } from '../../workflow-client/jobs/job-input.js';
import { UsageError } from '../usage-error.js';

type InputCommand = 'run' | 'fanout';

/** What rows of settings do not name, by the field; an index of a list is left out. */
const others: Readonly<Record<InputCommand, Readonly<Record<string, string>>>> = {
  run: { jobId: '--id', deployment: 'SANDFLOW_DEPLOYMENT' },
  fanout: {
    batchId: '--id',
    deployment: 'SANDFLOW_DEPLOYMENT',
    title: '--title',
    'source.sandboxId': '--source',
    'source.from': '--snapshot',
    'source.body.environment': '--environment',
    'source.body.noEnv': '--no-env',
    'source.body.setupScript': '--setup',
    'source.body.type': '--prepare-type',
    'source.put': '--prepare-put',
    'source.commands': '--command',
    'source.prompts': '--prepare-prompt',
    'source.deadlineMs': '--prepare-deadline',
    'source.end': '--prepare-end',
  },
};

/** The options whose JSON holds fields that have no option of their own. */
const bodies: readonly (readonly [fields: RegExp, option: string])[] = [
  [/^prompts\.(?!prompt$)[^.]+$/, '--prompt-body'],
  [/^source\.(body\.|(?!body$|kind$|sandboxId$))[^.]+$/, '--create-body'],
  [/^policy\.forkBody\.[^.]+$/, '--fork-body'],
];

/** Their values have fields of their own. */
const branching: readonly Kind[] = ['files', 'paths', 'folder', 'notify', 'escalation'];

/** @param path names of fields, and indexes as numbers or texts */
export function optionNameOf(command: InputCommand, path: readonly PropertyKey[]): string {
  const names = path.filter((step) => typeof step === 'string' && !/^\d+$/.test(step)) as string[];
  const [first = ''] = names;
  const last = names.at(-1) ?? '';
  const field = names.join('.');
  const settings = settingsOn(command).filter(({ of }) => of !== 'command');
  const flagOf = (name: string, kinds?: readonly Kind[]) =>
    settings.find((one) => fieldOf(one.key, one) === name && (kinds?.includes(one.kind) ?? true))?.flag;
  const known =
    others[command][names.slice(0, 2).join('.')] ??
    others[command][field] ??
    flagOf(first, branching) ??
    (first === 'policy' ? flagOf(names[1] ?? '', branching) : undefined) ??
    flagOf(last);
  if (known !== undefined) return known;
  const body = bodies.find(([fields]) => fields.test(field))?.[1];
  if (body !== undefined) return `${body}: ${last}`;
  if (first === 'prompts') return 'the prompts';
  return first === 'source' ? 'the sandbox (--sandbox, --fork or --from)' : last;
}

function checked<Input>(command: InputCommand, schema: z.ZodType<Input>, input: unknown): Input {
  const { data, problems } = checkInput(schema, input);
  if (problems === null) return data;
  const texts = problems.map(({ path, message }) => `${optionNameOf(command, path)}: ${message}`);
  throw new UsageError(`${texts.join('; ')}.`);
}

/**
 * Checks the input that the options of `run` describe and applies its defaults, as `parseJobInput` does.
 * @throws UsageError naming every option that is wrong: its user never wrote the names of fields
 */
export function checkedJobInput(input: NewJob): JobInput {
  return checked('run', jobInputSchema, input);
}

/** The same for the options of `fanout`, as `parseFanoutInput` does. @throws UsageError */
export function checkedFanoutInput(input: NewFanout): FanoutInput {
  return checked('fanout', fanoutInputSchema, input);
}
