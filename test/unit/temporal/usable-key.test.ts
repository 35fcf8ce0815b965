import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { connectWorker } from '../../../src/temporal/connect-worker.js';
import { cli } from '../cli/in-process.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

/** A server that refuses each call, and collects the keys that it gets. */
async function startServer() {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(200, { 'content-type': 'application/grpc', 'grpc-status': '16' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { seen, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('a key with a line end reaches Temporal from clients and workers, whoever builds the target', async () => {
  const { seen, address } = await startServer();
  const env = { TEMPORAL_ADDRESS: address, TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: 'canary-of-temporal\n' };
  const { connect } = readConfig(env).temporal;
  const built = { connectionOptions: { address, tls: false, apiKey: 'canary-of-a-program\n' } };
  const opening = [connectTemporal(connect), connectWorker(connect), connectTemporal(built), connectWorker(built)];
  for (const opened of await Promise.allSettled(opening)) {
    expect(opened).toMatchObject({ status: 'rejected', reason: { code: 'temporal_unreachable' } });
  }
  expect(new Set(seen)).toEqual(new Set(['Bearer canary-of-temporal', 'Bearer canary-of-a-program']));
});

it('a program that builds the target itself gets the name of what is wrong', async () => {
  const wrong = { connectionOptions: { address: '127.0.0.1:1', tls: false, apiKey: 'canary-first\ncanary-second' } };
  for (const connect of [connectTemporal, connectWorker]) {
    const error = await connect(wrong).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'bad_api_key', message: expect.stringContaining('TEMPORAL_API_KEY') });
    expect(inspect(error)).not.toContain('canary');
  }
});

it.each([
  ['TEMPORAL_API_KEY', { TEMPORAL_API_KEY: 'canary-first\ncanary-second' }],
  ['TEMPORAL_GRPC_META_X_TOKEN', { TEMPORAL_GRPC_META_X_TOKEN: 'canary-first\ncanary-second' }],
  ['SANDBOX_API_KEY', { SANDBOX_API_URL: 'https://api.example.com/v1', SANDBOX_API_KEY: 'canary-first\u0001canary' }],
])('%s that a header cannot carry is refused by its name, and not printed', async (name, env) => {
  for (const command of [['jobs', 'list', '--json'], ['run', 'x', '--json'], ['doctor', '--json'], ['worker']]) {
    const { exitCode, stdout, stderr } = await cli(command, { env: { TEMPORAL_ADDRESS: '127.0.0.1:1', ...env } });
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain(name);
    expect(stdout + stderr).not.toContain('canary');
  }
});

it('a broken configuration file of Temporal is not quoted', async () => {
  const file = join(await temporaryDirectory(), 'temporal.toml');
  await writeFile(file, '[profile.default]\napi_key = "canary-in-a-file\naddress = "x:1"\n');
  const { exitCode, stderr } = await cli(['jobs', 'list'], { env: { TEMPORAL_CONFIG_FILE: file } });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cannot be read') });
  expect(stderr).not.toContain('canary');
});
