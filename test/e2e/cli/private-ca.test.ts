/** The service and a receiver of notifications behind a private authority. Tier: processes, about 2 s. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createPrivateAuthority, missingForAuthority, terminateTls } from '../../setup/private-ca.js';
import { repository } from '../../unit/house/source-imports.js';

/** Node reads NODE_EXTRA_CA_CERTS at its start, so this is a program of its own. */
const calls = `
const [address] = process.argv.slice(1);
const { asyncLocalStorage } = await import('@temporalio/activity');
const { createSandboxClient } = await import('./dist/src/client/index.js');
const { notifyActivity } = await import('./dist/activities/notification/notify.js');
const client = createSandboxClient({ baseUrl: 'https://' + address + '/v1', apiKey: 'a-test-key' });
// The answer is none of the service, and does not matter.
await client.getSandbox('bx_2345abcd').catch(() => undefined);
await client.close();
const context = { cancellationSignal: new AbortController().signal };
const notify = notifyActivity({});
const told = { id: 'one', event: 'ended' };
await asyncLocalStorage.run(context, () => notify({ url: 'https://' + address + '/jobs' }, told)).catch(() => undefined);
`;

it.for([
  ['are reached with NODE_EXTRA_CA_CERTS alone', true],
  ['are not reached without it', false],
] as const)('the service and notifications %s', async ([, isTrusted], { skip }) => {
  const missing = missingForAuthority();
  if (missing) return skip(missing);
  const authority = createPrivateAuthority();
  onTestFinished(authority.close);
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    response.end('{"ok":true}');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const front = await terminateTls((receiver.address() as AddressInfo).port, authority);
  onTestFinished(async () => {
    await front.close();
    receiver.closeAllConnections();
    receiver.close();
  });
  const child = spawn(process.execPath, ['--input-type=module', '--eval', calls, front.address], {
    cwd: repository,
    env: { PATH: process.env.PATH, ...(isTrusted && { NODE_EXTRA_CA_CERTS: authority.file }) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const all = ['GET /v1/sandboxes/bx_2345abcd', 'POST /jobs'];
  expect(received).toEqual(isTrusted ? all : []);
});
