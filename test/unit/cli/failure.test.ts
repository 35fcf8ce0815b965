import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureOf } from '../../../src/cli/failure.js';
import { UsageError } from '../../../src/cli/usage-error.js';
import { SandflowError } from '../../../src/contract/sandflow-error.js';
import { cli } from './in-process.js';

const keys = [
  'jobId',
  'outcome',
  'sandboxId',
  'sandboxName',
  'prompts',
  'setup',
  'stop',
  'deletion',
  'files',
  'left',
  'wakes',
  'wakeCount',
  'apiCalls',
  'durationMs',
  'isolation',
  'error',
];

/** A service that answers everything with one status and error code. */
async function serviceThatAnswers(status: number, code: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ok: false, status, code, message: 'no', requestId: 'req_1' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** With a Temporal that nobody could reach: an answer of the service must end the command before it is asked. */
const configured = (apiUrl: string) => ({
  TEMPORAL_ADDRESS: '127.0.0.1:9',
  SANDBOX_API_URL: apiUrl,
  SANDBOX_API_KEY: 'a-key-that-nobody-may-see',
  SANDFLOW_PATIENCE_SECONDS: '0.3',
});

describe('failures', () => {
  it.each([
    [new UsageError('x'), 2],
    [new SandflowError('bad_configuration', 'x'), 2],
    [new SandflowError('job_not_found', 'x'), 2],
    [new SandflowError('temporal_unreachable', 'x'), 3],
    [new SandflowError('temporal_server_missing', 'x'), 3],
    [Object.assign(new Error('x'), { code: 'EADDRINUSE', port: 80 }), 2],
    [new Error('a defect'), 3],
    ['a text', 3],
  ])('%s ends with %i', (error, exitCode) => {
    expect(failureOf(error).exitCode).toBe(exitCode);
  });

  it('tells which port is in use and what to do', () => {
    const error = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', port: 7391 });
    expect(failureOf(error).error.message).toBe(
      'The port 7391 is in use. Choose another with --port, or end what uses it.',
    );
  });

  it.each([
    [['run', '--json'], 'bad_usage'],
    [['run', '--json', '--nonsense', 'x'], 'bad_usage'],
    [['run', 'missing.md', '--json'], 'bad_usage'],
    [['jobs', 'show', '--json'], 'bad_usage'],
    [['jobs', 'watch', 'Bad_Id', '--json'], 'bad_usage'],
  ])('%j prints one object of the one shape', async (args, code) => {
    const { exitCode, stdout } = await cli(args, { env: configured('http://127.0.0.1:9/v1') });
    expect(exitCode).toBe(2);
    const printed = JSON.parse(stdout);
    expect(Object.keys(printed)).toEqual(keys);
    expect(printed).toMatchObject({ outcome: null, prompts: [], error: { code } });
  });

  it('prints JSON only when asked: --json after -- is a prompt', async () => {
    const { exitCode, stdout } = await cli(['run', '--ttl', 'x', '--', '--json']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  it('a wrong key is an immediate error that names the setting and never the key', async () => {
    const env = configured(await serviceThatAnswers(401, 'unauthorized'));
    const { exitCode, stdout, stderr } = await cli(['run', 'x', '--json'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('refuses the key (401 unauthorized). Set SANDBOX_API_KEY');
    expect(JSON.parse(stdout)).toMatchObject({
      jobId: null,
      outcome: null,
      error: { code: 'unauthorized', status: 401 },
    });
    expect(stdout + stderr).not.toContain('a-key-that-nobody-may-see');
  });

  it('a dead service, and one that is down, end with 3', async () => {
    const down = await serviceThatAnswers(503, 'http_500');
    for (const [apiUrl, text] of [
      ['http://127.0.0.1:9/v1', 'cannot be reached'],
      [down, 'answers with errors'],
    ] as const) {
      const { exitCode, stderr } = await cli(['run', 'x'], { env: configured(apiUrl) });
      expect(exitCode).toBe(3);
      expect(stderr).toContain(`The service at ${apiUrl} ${text}`);
    }
  });

  it('an address that is no Sandbox Service ends with 2', async () => {
    const env = configured(await serviceThatAnswers(404, 'not_found'));
    const { exitCode, stderr } = await cli(['run', 'x'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('There is no Sandbox Service at');
  });
});
