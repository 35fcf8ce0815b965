/** The schema of the policy file: the accepted values, the defaults, and the meaning of each field. */
import { z } from 'zod';
import { sandboxStates } from '../contract/workflow-safe/states.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { chats } from '../protocol/chats.js';
import { type CleanupPolicy, type Rule, type Window, weekdays } from '../protocol/cleanup-policy.js';
import { type Escalation, parseEscalation } from '../protocol/escalation.js';
import { ownerStatuses } from '../protocol/sandbox-owner.js';
import { readYaml } from '../settings/read-yaml.js';
import { durationPattern, readDurationMs } from '../texts/duration.js';
import { isTimeZone } from '../texts/time-zone.js';
import { patternProblem } from './glob.js';

const title = z.string().min(1).max(100);
const pattern = z
  .string()
  .min(1)
  .max(200)
  .superRefine((text, context) => {
    const message = text === '' ? null : patternProblem(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

const duration = z
  .string()
  .regex(durationPattern, 'is not a duration; use a value like 90s, 30m, 12h, 7d or 2w')
  .transform((text, context) => {
    const ms = readDurationMs(text);
    if (ms !== undefined) return ms;
    context.addIssue({ code: 'custom', message: 'is longer than a hundred years' });
    return z.NEVER;
  });

/** One value or a list of them. */
function oneOrMore<Out, In>(schema: z.ZodType<Out, In>) {
  return z.union([schema.transform((value) => [value]), z.array(schema).min(1, 'must have at least one value')]);
}

const match = z
  .strictObject({
    name: oneOrMore(pattern).optional().describe('Patterns of names: * matches any characters, ? matches one'),
    state: oneOrMore(z.enum(sandboxStates))
      .optional()
      .describe('States. A rule that deletes and lists no states applies to archived and error'),
    olderThan: duration.optional().describe('Time since its creation'),
    idleFor: duration
      .optional()
      .describe(
        'Time since its stop or, while it runs, since its last change. Commands and SSH do not count as changes',
      ),
    environment: oneOrMore(pattern.nullable())
      .optional()
      .describe('Patterns of environment names; null: no environment'),
    creator: oneOrMore(pattern).optional().describe("Patterns of the creator's display name or account id"),
    costAbove: z.number().nonnegative().optional().describe('Dollars since the first of the month, at list price'),
    stopFailingFor: duration.optional().describe('Its stop fails, and was requested longer ago than this'),
    dataExpired: z.boolean().optional().describe('Whether its data was deleted, 14 days after its stop'),
    owned: oneOrMore(z.enum(ownerStatuses))
      .optional()
      .describe(
        'Status of its owner. closed: a job of this deployment ended and left it behind; kept: a job kept it on purpose; none: no job created it. Only a rule that lists kept stops or deletes kept sandboxes',
      ),
  })
  .describe('All given conditions must hold');

const rule = z
  .strictObject({
    rule: title.describe('Title, for plans and reports'),
    match: match.default({}),
    action: z
      .enum(['stop', 'escalate', 'delete-sandbox', 'delete-snapshot', 'keep'])
      .describe('escalate applies only to sandboxes whose stop fails'),
    keepLast: z
      .number()
      .int()
      .min(0)
      .max(20)
      .default(0)
      .describe('How many of the newest sandboxes that match name, environment and creator to keep, regardless of age'),
    keepLastPer: z
      .enum(['rule', 'name', 'environment', 'creator'])
      .default('rule')
      .describe('Whether keepLast applies to the whole rule, or to each name pattern, environment or creator'),
    keepSnapshots: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(1)
      .describe('With delete-snapshot: how many of the newest snapshots of each sandbox to keep'),
    snapshotName: oneOrMore(pattern)
      .optional()
      .describe(
        'With delete-snapshot: patterns of names of snapshots to delete as well. Default: only unnamed snapshots',
      ),
    snapshotOlderThan: duration.optional().describe('With delete-snapshot: only snapshots older than this'),
  })
  .superRefine(({ action, match: { owned } }, context) => {
    const touchable = owned === undefined || owned.some((status) => ['closed', 'kept', 'none'].includes(status));
    if (action === 'keep' || touchable) return;
    const message = `the owner status ${owned?.join(' or ')} only allows the action keep`;
    context.addIssue({ code: 'custom', path: ['action'], message });
  });

const clock = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const between = new RegExp(`^${clock} and ${clock}$`);

const window = z.strictObject({
  between: z
    .string()
    .regex(between, 'is not a time range; use a value like "01:00 and 05:00"')
    .describe('Local time in timeZone; an end before the start is on the next day'),
  days: z.array(z.enum(weekdays)).min(1).optional().describe('Days on which the window opens. Default: every day'),
});

/** The policy file, as it is written. */
export const policySchema = z
  .strictObject({
    $schema: z.string().optional().describe('For editors'),
    name: z
      .string()
      .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lower-case letters and digits, with single dashes between them')
      .max(40)
      .default('nightly')
      .describe('Name of the schedule and of the reports'),
    timeZone: z
      .string()
      .refine(isTimeZone, 'is not a time zone; use a name like Europe/Vienna, with its capital letters')
      .default('UTC')
      .describe('IANA name of the time zone of windows and of the schedule'),
    windows: z.array(window).default([]).describe('When cleanups may act. Default: always'),
    limits: z
      .strictObject({
        // The limit is needed because the state that a run passes to its next run grows with the number of actions.
        maxActions: z.number().int().min(0).max(10_000).default(100).describe('Maximum number of actions per night'),
        maxPercent: z
          .number()
          .min(0)
          .max(100)
          .default(25)
          .describe(
            'Maximum number of actions per night, in percent of all sandboxes, rounded down. A limit that allows no action at all is reported',
          ),
      })
      .prefault({}),
    protect: z.array(pattern).default([]).describe('Patterns of names that are never touched'),
    protectMayMatchNothing: z
      .boolean()
      .default(false)
      .describe('Lets a cleanup delete although a pattern of protect matches nothing in the account'),
    warnBeforeExpiry: duration
      .nullable()
      .prefault('3d')
      .describe('How early to warn that the data of a protected sandbox expires; null: never'),
    notify: z
      .strictObject({
        url: z.url({ protocol: /^https?$/ }),
        chat: z
          .enum(chats)
          .optional()
          .describe('The chat whose incoming webhook the url is; it gets a text for people'),
      })
      .optional()
      .describe('Receives warnings, and refusals of the service'),
    escalate: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .describe(
        'Steps for stops that go on failing: those that rules with the action escalate select, and those of this cleanup. For example "30m: resume-and-stop, 2h: notify"',
      ),
    escalateMayDelete: z
      .boolean()
      .default(false)
      .describe('Permits steps of escalate that delete the sandbox and all its data'),
    resultsOlderThan: duration.optional().describe('Removes results of this age whose jobs Temporal has forgotten'),
    rules: z.array(rule).min(1, 'must have at least one rule').max(200).describe('The first rule that matches applies'),
  })
  .superRefine((policy, context) => {
    const { rules } = policy;
    const problem = problemOfEscalation(policy);
    if (problem !== null) context.addIssue({ code: 'custom', path: ['escalate'], message: problem });
    const seen = new Set<string>();
    for (const [index, { rule: named }] of rules.entries()) {
      if (seen.has(named)) {
        context.addIssue({ code: 'custom', path: ['rules', index, 'rule'], message: `"${named}" is used twice` });
      }
      seen.add(named);
    }
  });

type WrittenEscalation = { readonly escalate?: string | undefined; readonly escalateMayDelete: boolean };

function escalationOf({ escalate, escalateMayDelete }: WrittenEscalation): Escalation | null {
  if (escalate === undefined) return null;
  return parseEscalation(escalate, { mayDelete: escalateMayDelete, deleteFlag: 'escalateMayDelete: true' });
}

function problemOfEscalation(
  policy: WrittenEscalation & { readonly rules: readonly { readonly action: string }[] },
): string | null {
  const { escalate, escalateMayDelete, rules } = policy;
  try {
    escalationOf(policy);
  } catch (error) {
    if (error instanceof SandflowError) return error.message;
    throw error;
  }
  if (escalate !== undefined) return null;
  if (escalateMayDelete) return 'is needed for escalateMayDelete';
  return rules.some(({ action }) => action === 'escalate') ? 'is needed for a rule with the action escalate' : null;
}

/** Creates the policy from the values of the file. */
export function policyOf(read: z.output<typeof policySchema>): CleanupPolicy {
  return {
    name: read.name,
    timeZone: read.timeZone,
    windows: read.windows.map(windowOf),
    limits: read.limits,
    protect: read.protect,
    protectMayMatchNothing: read.protectMayMatchNothing,
    warnBeforeExpiryMs: read.warnBeforeExpiry,
    notify: read.notify ?? null,
    escalate: escalationOf(read),
    resultsOlderThanMs: read.resultsOlderThan,
    rules: read.rules.map(ruleOf),
  };
}

function windowOf({ between: span, days }: z.output<typeof window>): Window {
  const [from = '', to = ''] = span.split(' and ');
  return { fromMinute: minuteOf(from), toMinute: minuteOf(to), days: days ?? weekdays };
}

function minuteOf(text: string): number {
  const [hours, minutes] = text.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** The rule with the defaults of what is not given. */
export const readRule = (given: z.input<typeof rule>): Rule => ruleOf(rule.parse(given));

function ruleOf(read: z.output<typeof rule>): Rule {
  const { match: given, snapshotName, snapshotOlderThan, ...rest } = read;
  return {
    ...rest,
    snapshotNames: snapshotName ?? [],
    snapshotsOlderThanMs: snapshotOlderThan ?? null,
    match: {
      names: given.name ?? null,
      states: given.state ?? null,
      olderThanMs: given.olderThan ?? null,
      idleForMs: given.idleFor ?? null,
      environments: given.environment ?? null,
      creators: given.creator ?? null,
      costAboveDollars: given.costAbove ?? null,
      dataExpired: given.dataExpired ?? null,
      stopFailingForMs: given.stopFailingFor ?? null,
      owned: given.owned ?? null,
    },
  };
}

/** Limit of a policy, in characters: it is part of the input of a workflow and of its schedule. */
const longestPolicy = 200_000;

/**
 * @param text YAML 1.2; JSON is YAML, too
 * @param file its name, for errors
 * @throws SandflowError `bad_policy`: one line for each problem, with the line of the file
 * @example
 * const policy = readPolicy(await readFile('nightly.yaml', 'utf8'), 'nightly.yaml');
 */
export function readPolicy(text: string, file: string): CleanupPolicy {
  if (text.length > longestPolicy) throw badPolicy([`${file}: is longer than ${longestPolicy} characters`]);
  return policyOf(readYaml(text, { file, schema: policySchema, whole: 'the policy', refuse: badPolicy }));
}

function badPolicy(problems: readonly string[], cause?: unknown): SandflowError {
  return new SandflowError('bad_policy', `The policy is invalid:\n  ${problems.join('\n  ')}`, { cause });
}
