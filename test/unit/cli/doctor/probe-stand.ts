/** A local service behind a small proxy that plants differences, and runs of the probe against it. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DeviationName } from '../../../../local-service/src/deviations/deviations.js';
import { createLocalService, type LocalService } from '../../../../local-service/src/index.js';
import type { CommandContext } from '../../../../src/cli/command.js';
import { runProbe } from '../../../../src/cli/doctor/probe/run-probe.js';
import type { Finding } from '../../../../src/cli/doctor/probe/trial.js';
import { readConfig } from '../../../../src/config.js';
import { type SeenRequest, startStand } from '../../client/http-harness.js';
import { temporaryDirectory } from '../temporary-directory.js';

type Json = Record<string, unknown>;

/** What the proxy makes of a request and of its answer. */
export interface Plant {
  /** @returns undefined to answer nothing: the connection is closed */
  readonly request?: (request: SeenRequest) => Partial<SeenRequest> | undefined;
  /** Also told when the service has answered; `close` loses the answer. */
  readonly answer?: (answer: { status: number; body: Json }, request: SeenRequest) => unknown;
}

export const apiKey = 'sk_probe_key_0123456789abcdef';

export async function startService(deviations: readonly DeviationName[] = []) {
  const directory = await temporaryDirectory();
  const timings = { bootMs: 30, archiveMs: 20, deleteMs: 10, hydrationMs: 0 };
  const service = await createLocalService({ directory, apiKey, isolation: 'plain', timings, deviations });
  await service.listen();
  onTestFinished(() => service.close());
  return service;
}

export async function proxyOf(service: LocalService, plant: () => Plant = () => ({})) {
  const stand = await startStand(async (seen, response) => {
    const { request = () => ({}), answer = () => undefined } = plant();
    const changed = request(seen);
    if (changed === undefined) return void response.destroy();
    const { method, url, headers, body } = { ...seen, ...changed };
    const sent = Object.entries(headers).filter(
      ([name]) => !/^(host|connection|content-length|transfer-encoding)$/.test(name),
    );
    const origin = new URL(service.url).origin;
    const init = {
      method,
      headers: Object.fromEntries(sent) as Record<string, string>,
      body: body === '' ? null : body,
    };
    const given = await fetch(`${origin}${url}`, init).catch(() => undefined);
    if (given === undefined) return void response.destroy();
    const text = await given.text();
    const isJson = given.headers.get('content-type')?.includes('json') === true;
    const shown = { status: given.status, body: isJson ? (JSON.parse(text) as Json) : {} };
    if (answer(shown, seen) === 'close') return void response.destroy();
    response.writeHead(shown.status, { 'content-type': given.headers.get('content-type') ?? 'text/plain' });
    response.end(isJson ? JSON.stringify(shown.body) : text);
  });
  onTestFinished(() => stand.close());
  return stand;
}

export interface Outcome {
  readonly exitCode: number | undefined;
  readonly error: unknown;
  readonly stdout: string;
  readonly stderr: string;
  readonly findings: readonly Finding[];
  readonly left: readonly string[];
  readonly context: CommandContext;
  /** The files of records. */
  readonly records: readonly { readonly text: string; readonly mode: number }[];
}

export const quick = { probesMs: 60_000, cleanUpMs: 10_000, lagMs: 400 };

export async function probed(
  url: string,
  options: {
    readonly home?: string;
    readonly within?: typeof quick;
    readonly interrupted?: AbortSignal;
    readonly json?: boolean;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Outcome> {
  const home = options.home ?? (await temporaryDirectory());
  const { within = quick, interrupted = new AbortController().signal, json = true } = options;
  let [stdout, stderr] = ['', ''];
  const env = { SANDFLOW_HOME: home, SANDBOX_API_URL: url, SANDBOX_API_KEY: apiKey, ...options.env };
  const context: CommandContext = {
    io: {
      stdin: (async function* () {})(),
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
      main: { command: process.execPath, args: ['no-such-program.js'] },
      cwd: home,
      readConfig: async () => readConfig({ SANDFLOW_PATIENCE_SECONDS: '30', ...env }),
      interrupted,
    },
    jobId: null,
    exitCode: 0,
  };
  let [exitCode, error]: [number | undefined, unknown] = [undefined, undefined];
  try {
    exitCode = await runProbe({ yes: true, json }, context, within);
  } catch (cause) {
    error = cause;
  }
  const folder = join(home, 'probes');
  const names = readdirSync(home).includes('probes')
    ? readdirSync(folder).filter((name) => name.endsWith('.json'))
    : [];
  const records = names.map((name) => ({
    text: readFileSync(join(folder, name), 'utf8'),
    mode: statSync(join(folder, name)).mode & 0o777,
  }));
  const { findings = [], left = [] } = json && stdout !== '' ? JSON.parse(stdout) : {};
  return { exitCode, error, stdout, stderr, findings, left, context, records };
}

export const idsOf = (findings: readonly Finding[], verdict: Finding['verdict']) =>
  findings.filter((one) => one.verdict === verdict).map(({ id }) => id);

/** Ids of sandboxes that a person would have to delete. */
export const livingIn = (service: LocalService) =>
  service.books
    .sandboxes()
    .filter(({ gone }) => gone !== 'deleted' && gone !== 'deleting')
    .map(({ id }) => id);
