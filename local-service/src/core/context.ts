/** The dependencies of every operation, and their interfaces. */
import type { SandboxEventType } from '../../../src/contract/workflow-safe/states.js';
import type { Agent } from '../agent/agent.js';
import type { Clock } from '../clock.js';
import type { DeviationName } from '../deviations/deviations.js';
import type { Faults } from '../faults/faults.js';
import type { Log } from '../log.js';
import type { MachineHost } from '../machine/machine-host.js';
import type { SshServer } from '../ssh/ssh-server.js';
import type { Database } from '../store/database.js';
import type { ListedRepository } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Stores } from '../store/stores.js';
import type { WorkKind } from '../store/work-store.js';
import type { LocalServiceTimings } from '../timings.js';
import type { SandboxLocks } from './locks.js';
import type { GivenModels } from './models.js';

/** Thresholds of 429 answers (the specification, "Limits", shows no numbers). Each is off by default. */
export interface LocalServiceLimits {
  /** Maximum number of requests of one caller per second. Further requests get `rate_limited`, with `Retry-After`. */
  readonly requestsPerSecond?: number;
  /** The same for a minute; `GET /limits` shows it as `requestsPerMinute`. */
  readonly requestsPerMinute?: number;
  /**
   * Maximum number of sandboxes of an account or an organization that are not archived. Beyond it, the answer is
   * `limit_reached`.
   */
  readonly activeSandboxes?: number;
  /** The same for the sandboxes of one member of an organization; the answer is `member_limit_reached`. */
  readonly activeSandboxesPerMember?: number;
  /** Maximum number of sandboxes created since midnight UTC. Beyond it, the answer is `daily_limit_reached`. */
  readonly sandboxesPerDay?: number;
}

export interface SandboxCredentials {
  /**
   * The variables with which a process in a sandbox calls the service. Their names are an assumption. The key is a
   * secret: never log, show or keep it.
   */
  variablesFor(sandbox: SandboxRecord): Readonly<Record<string, string>>;
  /** Revokes the credential. Processes that use it get 401. Safe to repeat. */
  revoke(sandboxId: string): void;
}

/** The logins of the user who runs the service. The values are secrets: never log, show or keep them. */
export interface Logins {
  /** What makes `git` use the login of the host; empty without one. */
  readonly repoHost: Readonly<Record<string, string>>;
  /** The variables of the agents of a provider. */
  readonly agents: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** @param previousState left out for `sandbox.hydrated`, whose payload has no states */
export type EventPublisher = (
  type: SandboxEventType,
  sandbox: SandboxRecord,
  previousState?: SandboxRecord['state'],
) => void;

export interface Core {
  readonly database: Database;
  readonly stores: Stores;
  readonly clock: Clock;
  readonly host: MachineHost;
  readonly timings: LocalServiceTimings;
  readonly limits: LocalServiceLimits;
  /** How it does otherwise than is assumed. */
  readonly deviations: ReadonlySet<DeviationName>;
  readonly faults: Faults;
  readonly log: Log;
  /** Allows one operation at a time on the machine of a sandbox. */
  readonly locks: SandboxLocks;
  /** The SSH servers of the sandboxes. */
  readonly ssh: SshServer;
  /** Allows one operation at a time on the SSH server of a sandbox. */
  readonly sshLocks: SandboxLocks;
  /** Aborted when the service ends. Unfinished work continues at the next start. */
  readonly closing: AbortSignal;
  /** Publishes an event. Called inside the transaction of the state change that the event reports. */
  readonly publish: EventPublisher;
  /**
   * Schedules work for later. Called inside the transaction that makes the work necessary. `dueAt` is in milliseconds
   * since the epoch.
   */
  readonly schedule: (kind: WorkKind, subject: string, token: string, dueAt: number) => void;
  /** The agent of a provider; undefined if the provider is not configured. */
  readonly agentOf: (provider: string) => Agent | undefined;
  /** The models that the settings list. */
  readonly models: GivenModels;
  /** Null: a prompt must name its provider. */
  readonly defaultProvider: string | null;
  readonly sandboxCredentials: SandboxCredentials;
  /** What the settings pass to sandboxes of the first account. */
  readonly logins: Logins;
  /** The port of the service, which hosted URLs name; undefined while it does not listen. */
  readonly servicePort: () => number | undefined;
  /** The repositories of each account that has no list of its own. */
  readonly repos: readonly ListedRepository[];
}

export interface PromptRunner {
  /** Starts the prompts that are queued for a sandbox and can run, once the current transaction is committed. */
  wake(sandboxId: string): void;
  /**
   * Ends the queued and running prompts, of one conversation or of all, as `interrupted`; part of the current
   * transaction.
   * @returns the number of prompts that it ended
   */
  interrupt(sandboxId: string, conversationId?: string): number;
  /** Waits until every agent has ended. */
  idle(): Promise<void>;
}

export interface Context extends Core {
  readonly prompts: PromptRunner;
}
