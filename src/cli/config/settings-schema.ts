/** The settings that the two files may contain: the project's `sandflow.json`, and `config.json` in SANDFLOW_HOME. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { reasoningEfforts } from '../../contract/requests/sandbox-requests.js';
import { serverUrlProblem, temporalAddressProblem } from '../../contract/urls.js';
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

const fine = (problemOf: (value: string) => string | undefined) => (context: z.core.ParsePayload<string>) => {
  const { value, issues } = context;
  const message = problemOf(value);
  if (message) issues.push({ code: 'custom', input: value, message });
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
const path = z.string().refine((value) => isAbsolute(value), { error: 'must be an absolute path' });
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

/**
 * Settings that a project file must not contain, because it comes with the code and may be hostile. They bring secrets
 * into a sandbox, run a command or call a URL, send a prompt twice, or hide a run.
 */
const ofUser = {
  environment: text,
  notify: z.string().min(1).max(2_000),
  snapshots: z.literal(false),
  monitoring: z.literal(false),
};

const profileName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/i, {
  error: 'must be a name of up to 32 letters, digits, - and _',
});

const projectDefaults = { run: z.strictObject(ofRun).partial(), fanout: z.strictObject(ofFanout).partial() };
export const projectSchema = z
  .strictObject({ ...projectDefaults, profiles: z.record(profileName, z.strictObject(projectDefaults).partial()) })
  .partial();

const connection = z
  .strictObject({
    apiUrl: z.string().check(fine(serverUrlProblem)),
    apiKeyFile: path,
    temporalAddress: z.string().check(fine(temporalAddressProblem)),
    temporalNamespace: text,
    temporalUi: z.string().check(fine(serverUrlProblem)),
    deployment: text,
    taskQueue: text,
    results: path,
  })
  .partial()
  .refine(({ apiUrl, apiKeyFile }) => apiKeyFile === undefined || apiUrl !== undefined, {
    error: 'apiKeyFile requires apiUrl: the key must not go to another service',
  });

export const userSchema = z
  .strictObject({
    profile: profileName,
    profiles: z.record(
      profileName,
      z
        .strictObject({
          connection,
          run: z
            .strictObject({
              ...ofRun,
              ...ofUser,
              ttl: z.union([z.literal('none'), ttl]),
              onUnknown: z.enum(['wait', 'abandon', 'resend']),
            })
            .partial(),
          fanout: z.strictObject({ ...ofFanout, ...ofUser, onUnknown: z.enum(['abandon', 'resend']) }).partial(),
        })
        .partial(),
    ),
  })
  .partial();

export type ProjectSettings = z.infer<typeof projectSchema>;
export type UserSettings = z.infer<typeof userSchema>;

/** Options that only the user's file may set. */
export const userOnly: ReadonlySet<string> = new Set([...Object.keys(ofUser), 'onUnknown']);
/** The connection settings of a profile in the user's file. */
export const connectionNames: ReadonlySet<string> = new Set(['connection', ...Object.keys(connection.shape)]);
