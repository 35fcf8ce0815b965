/** A service with a bad day, through the command line. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { FaultInput } from '../../../../local-service/src/index.js';
import { accepted, arm, armed, readBooks, reportOf, shell } from '../../../e2e/stack/fixture.js';
import { createParts, type LocalService, type PartsOfStack } from '../../../e2e/stack/fixture-parts.js';

const badGateway = { kind: 'error', status: 502, html: true } as const;
/** No proxy page for the prompt itself, whose effect would be unknown. */
const badDay: readonly FaultInput[] = [
  { ...badGateway, endpoint: 'createSandbox' },
  { ...badGateway, endpoint: 'listSandboxes' },
  { ...badGateway, endpoint: 'getPrompt' },
  { ...badGateway, endpoint: 'stopSandbox' },
  { ...badGateway, endpoint: 'getSandbox' },
  { kind: 'webhook_double', event: 'sandbox.ready' },
  { kind: 'webhook_drop', event: 'sandbox.archived' },
];

describe('an unreliable service', () => {
  let parts: PartsOfStack;
  beforeAll(async () => {
    parts = await createParts();
  });
  afterAll(() => parts.close());

  /** Runs one job by the command line with this service only. */
  async function runOn(service: LocalService, name: string) {
    const environment = parts.environment(service, name);
    await parts.startWorker(environment);
    return parts.cli.run(['run', shell('echo through'), '--id', name, '--json', '--quiet'], environment);
  }
  const completed = {
    outcome: 'completed',
    prompts: [{ status: 'completed', result: 'through\n' }],
    stop: { status: 'completed', kept: 'saved' },
    error: null,
  };

  it.concurrent('does not prevent a job from completing if it sometimes answers with a proxy’s HTML page', async ({
    expect,
  }) => {
    const service = await parts.startService('bad-day', { faultsEnabled: true });
    await arm(service, badDay);
    const ended = await runOn(service, 'bad-day');
    expect(reportOf(ended)).toMatchObject(completed);
    expect(await armed(service), 'every fault has struck').toEqual([]);
    expect(accepted(await readBooks(service))).toEqual({ sandboxes: 1, prompts: 1, stops: 1 });
  });
});
