/** Keys, addresses and names that are found wrong only when they are used: the message, the exit code, nothing left. */
import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { reportOf } from '../../../e2e/stack/fixture.js';
import { createParts, type LocalService, type PartsOfStack } from '../../../e2e/stack/fixture-parts.js';

/** Nothing listens there. */
const nowhere = '127.0.0.1:9';
const prompt = 'never sent';

describe('an input that is found wrong only when it is used', () => {
  let parts: PartsOfStack;
  let service: LocalService;
  let cli: CliHome;
  beforeAll(async () => {
    parts = await createParts();
    service = await parts.startService('service');
  });
  afterAll(() => parts.close());
  beforeEach(() => {
    cli = createCliHome();
  });
  afterEach(async () => {
    expect(cli.alive(), 'processes that are left').toEqual([]);
    await cli.close();
  });

  it('is an error before anything starts if it is a wrong key, and the key is not repeated', async () => {
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: 'not-the-key-of-this-service' };
    const ended = await cli.run(['run', prompt, '--json'], env);
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('rejects the key (401') });
    expect(reportOf(ended)).toMatchObject({ outcome: null, error: { code: 'unauthorized', status: 401 } });
    expect(ended.stdout + ended.stderr).not.toContain(env.SANDBOX_API_KEY);
    expect(readdirSync(cli.home), 'no stack was begun').toEqual([]);
  });

  it('is an error before anything starts if no service is at the address', async () => {
    const env = { SANDBOX_API_URL: service.url.replace('/v1', '/v9'), SANDBOX_API_KEY: service.apiKey };
    expect(await cli.run(['run', prompt], env)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('No Sandbox Service found at'),
    });
    expect(readdirSync(cli.home), 'no stack was begun').toEqual([]);
  });

  it.each([[['run', prompt]], [['worker']]])('%j with an unreachable Temporal names the address', async (args) => {
    const env = {
      ...parts.environment(service, 'dead'),
      TEMPORAL_ADDRESS: nowhere,
      SANDFLOW_PATIENCE_SECONDS: '1',
    };
    expect(await cli.run(args, env)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`Temporal at ${nowhere} cannot be reached`),
    });
  });

  it('makes a bridge report a port in use and a missing secret', async () => {
    const env = parts.environment(service, 'bridge');
    const { port } = new URL(service.url);
    const secret = { SANDBOX_WEBHOOK_SECRET: 'whsec_of_nobody' };
    expect(await cli.run(['bridge', '--port', port], { ...env, ...secret })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`--port: port ${port} is in use`),
    });
    expect(await cli.run(['bridge', '--port', '0'], env)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('SANDBOX_WEBHOOK_SECRET'),
    });
  });

  it.each(['show', 'watch', 'cancel'])('makes jobs %s of an unknown job exit with 2', async (command) => {
    expect(await cli.run(['jobs', command, 'nobodys'], parts.environment(service, 'nobody'))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('nobodys'),
    });
  });
});
