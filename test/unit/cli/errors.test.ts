import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { failureOf } from '../../../src/cli/errors.js';
import { exitCodes } from '../../../src/cli/exit-codes.js';
import { UsageError } from '../../../src/cli/usage-error.js';
import { readConfig } from '../../../src/config.js';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { cli } from './in-process.js';
import { temporaryDirectory } from './temporary-directory.js';

const keys = [
  'jobId',
  'outcome',
  'failureClass',
  'sandboxId',
  'sandboxName',
  'prompts',
  'rounds',
  'after',
  'always',
  'setup',
  'stop',
  'deletion',
  'files',
  'degraded',
  'left',
  'wakes',
  'wakeCount',
  'phases',
  'apiCalls',
  'durationMs',
  'isolation',
  'error',
];

/** A service that answers everything with one status and error code. @param onAsked called before each answer */
async function serviceThatAnswers(status: number, code: string, onAsked = () => {}): Promise<string> {
  const server = createServer((_, response) => {
    onAsked();
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

/** With an unreachable Temporal: an answer of the service must end the command before it connects. */
const configured = (apiUrl: string, patienceSeconds = 60) => ({
  TEMPORAL_ADDRESS: '127.0.0.1:9',
  SANDBOX_API_URL: apiUrl,
  SANDBOX_API_KEY: 'a-key-that-nobody-may-see',
  SANDFLOW_PATIENCE_SECONDS: String(patienceSeconds),
});

describe('a failing command', () => {
  it.each([
    [new UsageError('x'), 2],
    [new SandflowError('bad_configuration', 'x'), 2],
    [new SandflowError('job_not_found', 'x'), 2],
    // What an unchanged repetition cannot mend is 2.
    [new SandflowError('stack_differs', 'x'), 2],
    [new SandflowError('job_differs', 'x'), 2],
    [new SandflowError('stop_not_found', 'x'), 2],
    [new SandflowError('file_not_writable', 'x'), 2],
    [Object.assign(new Error('x'), { code: 'ENOTDIR', path: '/file/x', syscall: 'mkdir' }), 2],
    [Object.assign(new Error('x'), { code: 'EISDIR', path: '/x.1.part', dest: '/x', syscall: 'rename' }), 2],
    [new SandflowError('temporal_unreachable', 'x'), 3],
    [new SandflowError('temporal_server_missing', 'x'), 3],
    [new SandflowError('fanout_lost', 'x'), 1],
    [new SandflowError({ foreign: 'of_the_service' }, 'x'), 3],
    [Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write' }), 3],
    [new Error('x', { cause: Object.assign(new Error('y'), { code: 14, details: 'no server' }) }), 3],
    [new Error('a defect'), 70],
    [new TypeError('a defect'), 70],
    [Object.assign(new TypeError('a defect'), { code: 'ERR_INVALID_ARG_TYPE' }), 70],
    ['a text', 70],
  ])('%s exits with %i', (error, exitCode) => {
    expect(failureOf(error).exitCode).toBe(exitCode);
  });

  it('requests a report of an unexpected error, with its stack', async () => {
    const home = await temporaryDirectory();
    const { exitCode, stderr, stdout } = await cli(['jobs', 'show', 'x', '--json'], {
      readConfig: async () => {
        const config = readConfig({ SANDFLOW_HOME: home });
        return Object.defineProperty({ ...config }, 'temporal', {
          get() {
            throw new TypeError('a defect');
          },
        });
      },
    });
    expect(exitCode).toBe(70);
    expect(stderr).toContain(`error: Unexpected error: a defect`);
    expect(stderr).toMatch(
      /Please report it, with this:\n +sandflow jobs show --json, version \d+\.\d+\.\d+\n +TypeError: a defect\n +at /,
    );
    expect(JSON.parse(stdout).error.code).toBe('internal');
  });

  it('says why a path cannot be used, and names no system call', () => {
    const fields = { code: 'EISDIR', path: '/tmp.17.part', dest: '/tmp', syscall: 'rename' };
    expect(failureOf(Object.assign(new Error('EISDIR: illegal operation'), fields)).error.message).toBe(
      '/tmp cannot be used: it is a folder. Choose another path, or correct this one.',
    );
  });

  it('the reference and the help list every exit code', async () => {
    const codes = Object.values(exitCodes).map(String);
    const page = await readFile('docs/configuration.md', 'utf8');
    const [, table = ''] = /## Exit codes\n([\s\S]*?)\n## /.exec(page) ?? [];
    expect([...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => code)).toEqual(codes);
    const { stdout } = await cli(['run', '--help']);
    const [, list = ''] = /Exit codes:\n([\s\S]*?)$/.exec(stdout) ?? [];
    expect([...list.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => code)).toEqual(codes);
  });

  it('keeps the message of its own error, whatever its cause', () => {
    const cause = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', port: 7391 });
    const error = new SandflowError('port_in_use', 'Port 7391 is taken.', { cause });
    expect(failureOf(error)).toMatchObject({
      exitCode: 2,
      error: { code: 'port_in_use', message: 'Port 7391 is taken.' },
    });
  });

  it.each([
    [['run', '--json'], 'bad_usage'],
    [['run', '--json', '--nonsense', 'x'], 'bad_usage'],
    [['run', 'missing.md', '--json'], 'bad_usage'],
    [['jobs', 'show', '--json'], 'bad_usage'],
    [['jobs', 'watch', 'Bad_Id', '--json'], 'bad_usage'],
  ])('%j prints one object of the same shape', async (args, code) => {
    const { exitCode, stdout } = await cli(args, { env: configured('http://127.0.0.1:9/v1') });
    expect(exitCode).toBe(2);
    const printed = JSON.parse(stdout);
    expect(Object.keys(printed)).toEqual(keys);
    expect(printed).toMatchObject({ outcome: null, prompts: [], error: { code } });
  });

  it('prints JSON only on request: --json after -- is a prompt', async () => {
    const { exitCode, stdout } = await cli(['run', '--ttl', 'x', '--', '--json']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  it('reports a wrong key at once with the setting and never the key', async () => {
    const env = configured(await serviceThatAnswers(401, 'unauthorized'));
    const { exitCode, stdout, stderr } = await cli(['run', 'x', '--json'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('rejects the key (401 unauthorized). Set SANDBOX_API_KEY');
    expect(JSON.parse(stdout)).toMatchObject({
      jobId: null,
      outcome: null,
      error: { code: 'unauthorized', status: 401 },
    });
    expect(stdout + stderr).not.toContain('a-key-that-nobody-may-see');
  });

  it('exits with 3 if the service is unreachable or down', async () => {
    // The patience is over with the second answer, however long an answer takes.
    const down = await serviceThatAnswers(503, 'http_500', () => void vi.setSystemTime(Date.now() + 40_000));
    onTestFinished(() => void vi.useRealTimers());
    for (const [apiUrl, text, patienceSeconds] of [
      ['http://127.0.0.1:9/v1', 'cannot be reached', 0.3],
      [down, 'answers with errors', 60],
    ] as const) {
      const { exitCode, stderr } = await cli(['run', 'x'], { env: configured(apiUrl, patienceSeconds) });
      expect(exitCode).toBe(3);
      expect(stderr).toContain(`The service at ${apiUrl} ${text}`);
    }
  });

  it('exits with 2 if the address is not a Sandbox Service', async () => {
    const env = configured(await serviceThatAnswers(404, 'not_found'));
    const { exitCode, stderr } = await cli(['run', 'x'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('No Sandbox Service found at');
  });
});
