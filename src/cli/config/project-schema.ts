/** The settings that a project's `sandflow.json` may contain. */
import { z } from 'zod';
import { reasoningEfforts } from '../../contract/requests/sandbox-requests.js';
import { isSandboxId } from '../../contract/workflow-safe/ids.js';
import { parseDurationMs, parseTtlSeconds } from '../units.js';

const fits = (parse: (text: string) => unknown) => (text: string) => {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
};

const text = z.string().min(1).max(200);
const texts = z.union([text, z.array(text).min(1)]);
const duration = z.string().refine(
  fits((value) => parseDurationMs(value, 'setting')),
  {
    error: 'must be a duration, like 90s, 30m, 2h or 1h30m',
  },
);
const ttl = z.string().refine(fits(parseTtlSeconds), { error: 'must be a duration from 1s on, like 30m or 2h' });
const count = z.number().int().nonnegative();
const labels = z.record(z.string().regex(/^[^=]+$/), z.string());
const effort = z.enum(reasoningEfforts);

const ofBoth = {
  type: z.enum(['small', 'default', 'large', 'xlarge']),
  ttl,
  deadline: duration,
  // biome-ignore lint/suspicious/noThenProperty: the option is called --then.
  then: z.enum(['stop', 'delete', 'keep']),
  waitFor: z.enum(['usable', 'hydrated']),
  labels,
};
const ofRun = { ...ofBoth, provider: text, model: text, effort, from: text };
const ofFanout = {
  ...ofBoth,
  ...{ provider: texts, model: texts, effort: z.union([effort, z.array(effort).min(1)]) },
  ...{ repeat: count, concurrency: count, retries: count, first: count, failFast: z.literal(true) },
  ...{ itemDeadline: duration, budget: duration, snapshot: text },
  source: z.string().refine(isSandboxId, { error: 'must be the id of a sandbox, like bx_2345abcd' }),
};

/** An option is refused until it is added here: the file comes with the code and may be hostile. */
export const projectSchema = z
  .strictObject({ run: z.strictObject(ofRun).partial(), fanout: z.strictObject(ofFanout).partial() })
  .partial();

export type ProjectSettings = z.infer<typeof projectSchema>;
