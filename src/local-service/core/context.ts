/** The dependencies of every operation. */
import type { Agent } from '../agent/agent.js';
import type { Clock } from '../clock.js';
import type { Faults } from '../faults/faults.js';
import type { Log } from '../log.js';
import type { MachineHost } from '../machine/machine-host.js';
import type { LocalServiceLimits, LocalServiceProfile } from '../options.js';
import type { PromptRunner } from '../prompts/runner.js';
import type { SandboxCredentials } from '../sandboxes/credential.js';
import type { SandboxLocks } from '../sandboxes/locks.js';
import type { SshServer } from '../ssh/ssh-server.js';
import type { Database } from '../store/database.js';
import type { SelectedRepository } from '../store/environment-store.js';
import type { Stores } from '../store/stores.js';
import type { WorkKind } from '../store/work-store.js';
import type { LocalServiceTimings } from '../timings.js';
import type { EventPublisher } from '../webhooks/event-publisher.js';

export interface Core {
  readonly database: Database;
  readonly stores: Stores;
  readonly clock: Clock;
  readonly host: MachineHost;
  readonly timings: LocalServiceTimings;
  readonly limits: LocalServiceLimits;
  readonly profile: LocalServiceProfile;
  readonly faults: Faults;
  readonly log: Log;
  /** Allows one operation at a time on the machine of a sandbox. */
  readonly locks: SandboxLocks;
  /** The SSH servers of the sandboxes. */
  readonly ssh: SshServer;
  /** Allows one operation at a time on the SSH server of a sandbox. */
  readonly sshLocks: SandboxLocks;
  /** Aborted when the service ends. Work that is not done by then is left to the next start. */
  readonly closing: AbortSignal;
  /** Publishes an event. Called inside the transaction of the state change that the event reports. */
  readonly publish: EventPublisher;
  /**
   * Stores work for later. Called inside the transaction that makes the work necessary. `dueAt` is in milliseconds
   * since the epoch.
   */
  readonly schedule: (kind: WorkKind, subject: string, token: string, dueAt: number) => void;
  /** The agent of a provider; undefined if the provider is not configured. */
  readonly agentOf: (provider: string) => Agent | undefined;
  readonly defaultProvider: string;
  readonly sandboxCredentials: SandboxCredentials;
  /** The repositories of each account that has no list of its own. */
  readonly repos: readonly SelectedRepository[];
}

export interface Context extends Core {
  readonly prompts: PromptRunner;
}
