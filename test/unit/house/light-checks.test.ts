/** The check of a command line loads no heavy package, so that a mistake is answered within 0.3 s. */
import { describe, expect, it } from 'vitest';
import { importsIn, readSource, sourceFiles } from './source-imports.js';

/** The packages that a file loads when it is imported, through all files that it imports. */
function packagesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return importsIn(file, readSource(file)).flatMap(({ target, isOwn, isTypeOnly, isDynamic }) => {
    if (isTypeOnly || isDynamic) return [];
    return isOwn ? packagesOf(target, seen) : [target];
  });
}

const heavy = ['@aws-sdk/client-s3', 'undici', 'libsql', 'fastify', 'prom-client'];
const isHeavy = (name: string) => name.startsWith('@temporalio/') || heavy.includes(name);

/** The file that checks the command line of each command. */
const checks: readonly (readonly [command: string, file: string])[] = [
  ['run', 'run/read-run.ts'],
  ['fanout', 'fanout/read-fanout.ts'],
  ['fanout watch', 'fanout/result-places.ts'],
  ['fanout resume', 'fanout/read-resume.ts'],
  ['fanout report', 'output-places.ts'],
  ['jobs list', 'jobs/list-jobs.ts'],
  ['jobs rerun and continue', 'jobs/read-rerun.ts'],
  ['jobs watch, prompt, cancel and resolve', 'jobs/act-on-job.ts'],
  ['jobs cancel, rerun and resolve of many', 'jobs/act-on-many.ts'],
  ['jobs show', 'connect/require-id.ts'],
  ['stop', 'stops/stop-request.ts'],
  ['stops list', 'stops/list-stops.ts'],
  ['sandboxes list', 'sandboxes/list-sandboxes.ts'],
  ['sandboxes show', 'sandboxes/show-sandbox.ts'],
  ['cleanup run and plan', 'cleanup/run-cleanup.ts'],
  ['schedule add', 'schedule/add-schedule.ts'],
  ['schedule show and list', 'schedule/show-schedule.ts'],
  ['schedule pause, resume, run-now and remove', 'schedule/change-schedule.ts'],
  ['webhooks', 'webhooks/registrations.ts'],
  ['webhooks connect', 'webhooks/command.ts'],
  ['local', 'local/serve-local.ts'],
  ['local clock, seed and reset', 'local/administer.ts'],
  ['bridge and codec-server', 'serve/serving.ts'],
  ['api', 'api/call-api.ts'],
];

describe('the check of the command line loads no client of Temporal or of the service', () => {
  it.each(checks)('for %s', (_, file) => {
    expect(packagesOf(`src/cli/${file}`).filter(isHeavy)).toEqual([]);
  });

  it('and this is noticed', () => {
    expect(packagesOf('src/cli/run/run-job.ts').filter(isHeavy)).toContain('@temporalio/client');
    expect(packagesOf('src/supervisor/run-supervisor.ts').filter(isHeavy)).toContain('libsql');
  });
});

/** The files that a command loads after its check, with a stack that is up. */
const commands: readonly (readonly [command: string, files: readonly string[]])[] = [
  ['jobs list', ['connect/platform.ts', '../workflow-client/list-executions.ts']],
  ['run', ['connect/platform.ts', 'connect/local-facts.ts', 'run/run-job.ts']],
  ['cleanup plan', ['connect/platform.ts', 'cleanup/run-cleanup.ts', '../workflow-client/cleanups/cleanup-client.ts']],
  ['status', ['stack/show-stack.ts']],
];

describe('a command loads neither a database nor a server, and the HTTP client only to call the service', () => {
  it.each(commands)('%s', (_, files) => {
    const packages = files.flatMap((file) => packagesOf(`src/cli/${file}`));
    expect(packages).toContain('zod');
    expect(packages.filter((name) => heavy.includes(name) || name === '@temporalio/worker')).toEqual([]);
  });
});

it.each([
  ['the client of S3 before a call to a bucket', /^@(?:aws-sdk|smithy)\//, 'src/s3/bucket.ts'],
  ['OpenTelemetry before an SDK has registered itself', /^@opentelemetry\//, 'src/tracing/trace-context.ts'],
])('nothing loads %s', (_, packages, user) => {
  const files = sourceFiles('src', 'activities', 'workflows');
  const imports = files.flatMap((file) => importsIn(file, readSource(file)).map((found) => ({ file, ...found })));
  const ofSdk = imports.filter(({ target }) => packages.test(target));
  expect(ofSdk.filter(({ isTypeOnly, isDynamic }) => !isTypeOnly && !isDynamic)).toEqual([]);
  expect([...new Set(ofSdk.map(({ file }) => file))]).toEqual([user]);
});
