/** Every string and list of every input, found in the schemas by code, with sizes around Temporal's limits. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fanoutInputSchema, fanoutItemSchema } from '../../../src/workflow-client/fanouts/fanout-input.js';
import { jobInputSchema } from '../../../src/workflow-client/jobs/job-input.js';
import { promptStepSchema } from '../../../src/workflow-client/settings/setting-schemas.js';
import { stopOptionsSchema } from '../../../src/workflow-client/stops/stop-input.js';

const sizes = [900_000, 1_100_000, 2_100_000, 12_000_000];
const stored = { ref: 'file-store:a', bytes: 5, sha256: 'a'.repeat(64), head: 'a' };
const step = { prompt: 'hello', provider: 'a', model: 'b' };
const storedStep = { prompt: stored };
const files = [
  { path: 'a', content: { base64: 'YQ==' } },
  { path: 'b', content: { ref: 'r' } },
  { path: 'c', content: { tarGz: ['r'] } },
];
const last = { checkPrompt: 'Mend {{output}}', after: ['true', stored], always: ['true', stored] };
const checks = ['true', stored];
const body = { environment: 'env', from: 'snap', setupScript: 'true' };
const escalate = {
  steps: [{ afterMs: 1_000, action: 'notify' }],
  notify: { url: 'https://example.com' },
};
const notify = { url: 'https://example.com' };
const job = {
  deployment: 'dev',
  jobId: 'j',
  source: { kind: 'create', body },
  waitFor: 'usable',
  put: files,
  commands: ['true', stored],
  prompts: [step, storedStep],
  checks,
  rounds: 2,
  ...last,
  conversations: 'one',
  collect: ['out'],
  collectDiff: 'app',
  end: 'stop',
  deadlineMs: 1,
  ttlSeconds: 1,
  onUnknownOutcome: 'wait',
  maxGenerations: 1,
  notify,
  escalate,
  fairnessKey: 'k',
};
const policy = {
  concurrency: 1,
  stopAt: { kind: 'go_on' },
  retries: 0,
  itemDeadlineMs: 1,
  deadlineMs: 1,
  budgetSeconds: null,
  type: null,
  end: 'stop',
  ttlSeconds: 1,
  onUnknownOutcome: 'wait',
  checks,
  rounds: 2,
  ...last,
  escalate,
  fairnessKey: 'k',
};
const batch = { deployment: 'dev', batchId: 'b', policy, title: 't', notify };
const preparing = { kind: 'prepare', put: files, commands: ['true', stored], prompts: [step, storedStep] };
const source = (kind: string) => ({ kind, sandboxId: 'bx_22222222' });
const storedBody = { ...body, setupScript: stored };

/** For each schema: values that together contain every string. */
const inputs: readonly (readonly [string, z.ZodType, readonly object[]])[] = [
  [
    'job',
    jobInputSchema,
    [
      job,
      { ...job, source: { kind: 'create', body: storedBody } },
      { ...job, source: source('existing'), conversationId: 'c' },
      { ...job, source: source('fork') },
    ],
  ],
  ['follow-up', promptStepSchema, [step, storedStep]],
  [
    'batch',
    fanoutInputSchema,
    [
      { ...batch, source: { ...preparing, body, deadlineMs: 1, end: 'stop' } },
      { ...batch, source: { ...preparing, body: storedBody, deadlineMs: 1, end: 'stop' } },
      { ...batch, source: { kind: 'snapshot', from: 's', body: { environment: 'e', setupScript: 'true' } } },
      { ...batch, source: { kind: 'snapshot', from: 's', body: { setupScript: stored } } },
      { ...batch, policy: { ...policy, conversationId: 'c' }, source: { ...source('sandbox'), allowStale: false } },
    ],
  ],
  [
    'item',
    fanoutItemSchema,
    [
      { id: 'i', prompts: [step, storedStep], put: files, collect: ['out'], collectDiff: 'app', labels: { a: 'b' } },
      { id: 'i', prompts: [step], columns: { a: 'b' }, checks },
      { id: 'i', prompts: [step], columns: { a: stored } },
    ],
  ],
  ['stop', stopOptionsSchema, [{ sandboxId: 'bx_22222222', requestId: 'r', notify }]],
];

/** Fields that may be long, because `store-texts.ts` replaces them by references. */
const byReference = /(^|\.)(prompt|setupScript|base64|columns\.a)$/;

type Path = readonly (string | number)[];
const spoken = (path: Path) => path.map((part) => (typeof part === 'number' ? '*' : part)).join('.');

function stringsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, part]) => stringsOf(part, [...path, key]));
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** Paths of unrestricted strings. */
function stringsOfSchema(schema: JsonSchema, path: Path = []): Path[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = schema;
  if (schema.enum !== undefined || schema.const !== undefined) return [];
  return [
    ...(schema.type === 'string' ? [path] : []),
    ...Object.entries(properties).flatMap(([name, part]) => stringsOfSchema(part, [...path, name])),
    ...(typeof additionalProperties === 'object' ? stringsOfSchema(additionalProperties, [...path, 'a']) : []),
    ...(items ? stringsOfSchema(items, [...path, 0]) : []),
    ...[...anyOf, ...oneOf].flatMap((part) => stringsOfSchema(part, path)),
  ];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

describe.each(inputs)('the input of a %s', (_, schema, samples) => {
  const free = new Set(
    stringsOfSchema(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema).map(spoken),
  );
  const sampled = samples.flatMap((sample) => stringsOf(sample).map((path) => ({ sample, path })));

  it('has a test for every string that it may contain', () => {
    for (const sample of samples) expect(schema.safeParse(sample).error?.issues ?? []).toEqual([]);
    const seen = new Set(sampled.map(({ path }) => spoken(path)));
    expect([...free].filter((path) => !seen.has(path))).toEqual([]);
  });

  it.each(sizes)('accepts no string of %i bytes except by reference', (bytes) => {
    const long = 'x'.repeat(bytes);
    for (const { sample, path } of sampled) {
      if (!free.has(spoken(path)) || byReference.test(spoken(path))) continue;
      expect(schema.safeParse(replaced(sample, path, long)).success, spoken(path)).toBe(false);
    }
  });

  it('accepts no unlimited list', () => {
    for (const { sample, path } of sampled) {
      const at = path.findLastIndex((part) => typeof part === 'number');
      if (at === -1) continue;
      const one = path
        .slice(0, at + 1)
        .reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], sample);
      const many = replaced(sample, path.slice(0, at), Array(1_001).fill(one));
      expect(schema.safeParse(many).success, spoken(path)).toBe(false);
    }
  });
});
