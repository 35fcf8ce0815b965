/** Creates the local Sandbox Service from its parts, starts it and ends it. */

import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { machineTypes } from '../../src/contract/workflow-safe/machine-types.js';
import { SandflowError } from '../../src/errors/sandflow-error.js';
import { logWithoutSecrets } from '../../src/errors/without-secrets.js';
import { makeFolders } from '../../src/os/make-folders.js';
import { headerSecret } from '../../src/secrecy/known-secrets.js';
import { requireOptions } from '../../src/settings/required-options.js';
import { type Accounts, createAccounts } from './accounts/accounts.js';
import { type AccountSetup, createAccountSetup } from './accounts/setup.js';
import { type Agent, createAgents } from './agent/index.js';
import { assemble, type Given } from './assembly.js';
import { startAllWork } from './background/start-stop.js';
import { type ClockState, type ControlledClock, createClock } from './clock.js';
import { readLogins } from './environments/logins.js';
import { configuredRepos } from './environments/repos.js';
import { createHostedServer } from './hosting/hosted-server.js';
import { allOperations } from './http/operations.js';
import { createServer } from './http/server.js';
import { currentSurface, legacySurface } from './http/surface.js';
import { createInspection, type Inspection } from './inspection.js';
import { type IsolationReport, isolationReport, requireIsolatedAgents } from './isolation-report.js';
import { createMachineHost } from './machine/index.js';
import type { LocalServiceOptions } from './options.js';
import { requireGoodLogin } from './prompts/login.js';
import { byProvider, configuredProvider } from './prompts/providers.js';
import { loadHostKey } from './ssh/host-key.js';
import { createSshServer } from './ssh/ssh-server.js';
import { createCallGate } from './state/call-gate.js';
import { createStateControl, type StateControl } from './state/control.js';
import { createCallStore } from './store/call-store.js';
import { type Database, openDatabase } from './store/database.js';
import { createSettingStore } from './store/stores.js';
import { defaultTimings } from './timings.js';
import { resolveBySystem } from './webhooks/public-address.js';

/** A local Sandbox Service. */
export interface LocalService extends StateControl {
  /** How the sandboxes are isolated and what they can reach; the same as the field `isolation` of `GET /_local/facts`. */
  readonly isolation: IsolationReport;
  /** Base URL with the version, such as `http://127.0.0.1:4321/v1`. Available once the service listens. */
  readonly url: string;
  /** Base URL of the legacy surface, such as `http://127.0.0.1:4321/legacy/v1` (specification, "Versioning"). */
  readonly legacyUrl: string;
  /** Base URL of the routes for tests, such as `/_local/books` and `/_local/faults`. */
  readonly adminUrl: string;
  /** What the service did; the same as `GET /_local/books`. */
  readonly books: Inspection;
  /** The clock of the service, to hold and to move forward; the same as `/_local/clock`. */
  readonly clock: ControlledClock;
  /** Accounts, organizations and sessions. The API cannot create them. */
  readonly accounts: Accounts;
  /** Environments and repositories. The API cannot create them. */
  readonly setup: AccountSetup;
  /** Resumes work that an earlier start left open, and accepts requests. Safe to repeat. */
  listen(): Promise<{ readonly url: string }>;
  /** Ends every process and connection; open work resumes at the next start. Safe to repeat. */
  close(): Promise<void>;
}

const defaultMaxCallRecords = 100_000;
/**
 * Creates a local service that keeps its state in a directory. Nothing runs and no port is open until `listen`.
 * @throws SandflowError `directory_in_use` while another service uses the directory, `agent_not_isolated` if a command
 *   agent would run without isolation, and as `readLogins` for the files of logins
 */
export async function createLocalService(options: LocalServiceOptions): Promise<LocalService> {
  requireOptions(options, { directory: 'a text', apiKey: 'a text' });
  const apiKey = headerSecret('apiKey', options.apiKey);
  const { directory } = options;
  const log = logWithoutSecrets(options.log);
  const agentOf = agentsOf(options);
  const models = byProvider('models', options.models);
  const { defaultProvider: wanted = 'codex' } = options;
  const defaultProvider = wanted === null ? null : configuredProvider(wanted);
  const repos = configuredRepos(options.repos ?? []);
  const logins = await readLogins(options, configuredProvider);
  await makeFolders(directory, { mode: 0o700 });
  const database = openDatabase(directory);
  // An open database would keep every other service from opening the directory.
  const opened: (() => unknown)[] = [() => database.close()];
  try {
    return await createOn(
      { ...options, apiKey, log, agentOf, models, defaultProvider, repos, logins },
      database,
      opened,
    );
  } catch (error) {
    for (const close of opened.toReversed()) await close();
    throw error;
  }
}

type Checked = Omit<LocalServiceOptions, 'repos' | 'models'> &
  Pick<Given, 'log' | 'agentOf' | 'models' | 'defaultProvider' | 'repos' | 'logins'>;

/** @param opened gets what has to be closed if a later step fails */
async function createOn(options: Checked, database: Database, opened: (() => unknown)[]): Promise<LocalService> {
  const { directory, apiKey, log, agentOf, models, defaultProvider, repos, logins } = options;
  let sizeOf = (_sandboxId: string): keyof typeof machineTypes => 'default';
  const host = await createMachineHost({
    directory: join(directory, 'machines'),
    isolation: options.isolation ?? 'auto',
    network: options.network,
    programs: options.programs,
    sizeOf: (sandboxId) => machineTypes[sizeOf(sandboxId)],
    log: (message) => log(message),
  });
  opened.push(() => host.close());
  const isolation = isolationReport(host.description, options);
  const refused = requireIsolatedAgents(isolation, options);
  if (refused) throw refused;
  const hostKey = await loadHostKey(join(directory, 'ssh_host_key'));
  const settings = createSettingStore(database);
  const clock = createClock({
    initial: settings.get<ClockState>('clock'),
    save: (state) => settings.put('clock', state),
  });
  const deviations = new Set(options.deviations);
  let origin: string | undefined;
  const given: Given = {
    database,
    clock,
    host,
    createSsh: (more) => createSshServer({ ...more, hostKey, host: options.host ?? '127.0.0.1', log }),
    timings: {
      ...defaultTimings,
      ...(deviations.has('A-periodic-snapshots') && { snapshotEveryMs: 5_000 }),
      ...options.timings,
    },
    limits: { ...(deviations.has('A-rate-limits') && { requestsPerMinute: 600 }), ...options.limits },
    deviations,
    log,
    agentOf,
    models,
    defaultProvider,
    repos,
    logins,
    servicePort: () => (origin === undefined ? undefined : Number(new URL(origin).port)),
  };
  const gate = createCallGate();
  const { strictWebhookUrls = false, resolveWebhookHost: resolveHost = resolveBySystem } = options;
  const assembly = assemble(given, {
    seed: { apiKey, accounts: options.accounts ?? [], teams: options.teams ?? [] },
    apiUrl: () => (origin === undefined ? undefined : `${origin}${currentSurface.base}`),
    strictWebhookUrls,
    resolveHost,
  });
  sizeOf = (sandboxId) => assembly.context.stores.sandboxes.get(sandboxId)?.type ?? 'default';
  const calls = createCallStore(database, { maxRecords: options.maxCallRecords ?? defaultMaxCallRecords });
  const books = createInspection(assembly.context.stores, calls);
  clock.waitFor(assembly.scheduler);
  clock.waitFor(assembly.deliverer);
  clock.waitFor(assembly.sampler);
  assembly.load();
  calls.load();
  const state = createStateControl(assembly, { gate, calls, clock, strictWebhookUrls });
  const hosted = createHostedServer(assembly.context);
  const server = createServer({
    hosted,
    context: assembly.context,
    gate,
    state,
    operations: allOperations({ strictUrls: strictWebhookUrls, resolveHost }),
    calls,
    books,
    apiKey,
    faultsEnabled: options.faultsEnabled ?? false,
    clock,
    isolation,
    changedSettings: options.changedSettings,
  });
  let listening: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  async function listen(): Promise<void> {
    await host.recover();
    const start = await startAllWork(assembly);
    const { host: address = '127.0.0.1', port: wantedPort = 0 } = options;
    try {
      await server.listen({ host: address, port: wantedPort });
    } catch (cause) {
      throw listenError(cause, wantedPort);
    }
    const { port } = server.server.address() as AddressInfo;
    origin = `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
    start();
  }

  async function close(): Promise<void> {
    assembly.closing.abort();
    // The scheduler stops before the machines end. Otherwise work that is interrupted by their end would count as done.
    const worked = assembly.scheduler.stop();
    hosted.close();
    // A session of SSH may wait for a disk.
    await host.endRestore();
    await server.close();
    await assembly.context.ssh.closeAll();
    await Promise.all([assembly.deliverer.stop(), assembly.sampler.stop(), host.close()]);
    await Promise.all([worked, assembly.context.prompts.idle()]);
    await assembly.sender.close();
    calls.close();
    assembly.context.stores.keyUsage.close();
    clock.close();
    database.close();
  }

  const requireOrigin = (): string => {
    if (origin === undefined) throw new SandflowError('not_listening', 'Call listen() first.');
    return origin;
  };

  return {
    get url() {
      return `${requireOrigin()}/v1`;
    },
    get legacyUrl() {
      return `${requireOrigin()}${legacySurface.base}`;
    },
    get adminUrl() {
      return `${requireOrigin()}/_local`;
    },
    books,
    clock,
    isolation,
    accounts: createAccounts(assembly.context),
    setup: createAccountSetup(assembly.context),
    async listen() {
      listening ??= listen();
      await listening;
      return { url: `${requireOrigin()}/v1` };
    },
    ...state,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

function agentsOf({ commandAgents, scriptedProviders }: LocalServiceOptions): (provider: string) => Agent | undefined {
  const commands = Object.fromEntries(byProvider('commandAgents', commandAgents));
  for (const [name, { login }] of Object.entries(commands)) requireGoodLogin(`commandAgents.${name}.login`, login);
  return createAgents({ commandAgents: commands, scriptedProviders: scriptedProviders?.map(configuredProvider) });
}

function listenError(cause: unknown, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const mend = 'Choose another port, or 0 for any free port.';
  if (code === 'EADDRINUSE')
    return new SandflowError('port_in_use', `Port ${port} is already in use. ${mend}`, { cause });
  if (code === 'EACCES')
    return new SandflowError('bad_usage', `You may not listen on port ${port}. ${mend}`, { cause });
  return cause;
}
