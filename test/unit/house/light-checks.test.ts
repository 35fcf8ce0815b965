/** The check of a command line loads no heavy package, so that a mistake is answered within 0.3 s. */
import { describe, expect, it } from 'vitest';
import { importsIn, readSource } from './source-imports.js';

/** The packages that a file loads when it is imported, through all files that it imports. */
function packagesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return importsIn(file, readSource(file)).flatMap(({ target, isOwn, isTypeOnly, isDynamic }) => {
    if (isTypeOnly || isDynamic) return [];
    return isOwn ? packagesOf(target, seen) : [target];
  });
}

const heavy = ['undici', 'libsql', 'fastify', 'prom-client'];
const isHeavy = (name: string) => name.startsWith('@temporalio/') || heavy.includes(name);

/** The file that checks the command line of each command. */
const checks: readonly (readonly [command: string, file: string])[] = [
  ['run', 'run/read-run.ts'],
  ['fanout', 'fanout/read-fanout.ts'],
  ['fanout watch', 'fanout/result-places.ts'],
  ['fanout resume', 'fanout/read-resume.ts'],
  ['fanout report', 'output-places.ts'],
  ['jobs list', 'jobs/list.ts'],
  ['jobs rerun and continue', 'jobs/read-rerun.ts'],
  ['jobs watch, prompt, cancel and resolve', 'jobs/act-on-job.ts'],
  ['jobs show', 'connect/require-id.ts'],
  ['stop', 'stops/stop-request.ts'],
  ['stops list', 'stops/list-stops.ts'],
  ['sandboxes list', 'sandboxes/list-sandboxes.ts'],
  ['sandboxes show', 'sandboxes/show-sandbox.ts'],
  ['cleanup run and plan', 'cleanup/run-cleanup.ts'],
  ['schedule add', 'schedule/add-schedule.ts'],
  ['schedule apply', 'schedule/apply-schedules.ts'],
  ['schedule show and list', 'schedule/show-schedule.ts'],
  ['schedule pause, resume, run-now, backfill and remove', 'schedule/change-schedule.ts'],
  ['webhooks', 'webhooks/registrations.ts'],
  ['webhooks connect', 'webhooks/check-url.ts'],
  ['local', 'serve/serve-local.ts'],
  ['local clock, seed, import, export and reset', 'local/administer.ts'],
  ['bridge and codec-server', 'serve/serving.ts'],
  ['bridge report', 'serve/report-wakes.ts'],
  ['api', 'api/call-api.ts'],
];

describe('the check of the command line loads no client of Temporal or of the service', () => {
  it.each(checks)('for %s', (_, file) => {
    expect(packagesOf(`src/cli/${file}`).filter(isHeavy)).toEqual([]);
  });

  it('and this is noticed', () => {
    expect(packagesOf('src/cli/run/run-job.ts').filter(isHeavy)).toEqual(
      expect.arrayContaining(['@temporalio/client', 'undici', 'libsql']),
    );
  });
});
