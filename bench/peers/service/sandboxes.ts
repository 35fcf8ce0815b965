/** The sandboxes of the bench's service: their records, and what changes them. */
import { randomBytes, randomInt } from 'node:crypto';
import { sandboxIdAlphabet } from '../../../src/contract/workflow-safe/ids.js';

/** How long each step of a sandbox takes, in ms. */
export interface Delays {
  readonly bootMs: number;
  readonly promptMs: number;
  readonly archiveMs: number;
  /** From the acceptance of a POST to its answer. */
  readonly answerMs: number;
}

export interface PromptEntry {
  readonly id: string;
  readonly conversationId: string;
  readonly text: string;
  readonly receivedAtMs: number;
  endedAtMs: number | null;
}

export interface SandboxEntry {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  state: 'provisioning' | 'ready' | 'running' | 'idle' | 'archiving' | 'archived';
  readonly prompts: PromptEntry[];
  readonly events: object[];
  stop: { readonly id: string; readonly requestedAtMs: number; endedAtMs: number | null } | null;
  /** The record of the service as JSON, because lists repeat it often. */
  json: string;
}

export type Announce = (
  type: 'sandbox.ready' | 'sandbox.archived',
  entry: SandboxEntry,
  states: { readonly previousState: string; readonly state: string },
) => void;

/** The fields that are the same for every sandbox. */
const constantFields = {
  error: null,
  dataExpiredAt: null,
  health: 'ok',
  healthReason: null,
  degradedSince: null,
  hydrated: true,
  hydratedAt: null,
  hydration: null,
  type: 'default',
  vcpu: 2,
  memoryGB: 4,
  billingMultiplier: 1,
  sshEndpoint: null,
  archiveAfter: null,
  ttlSeconds: null,
  desktopAvailable: false,
  snapshots: true,
  monitoring: true,
  team: null,
  createdBy: 'bench',
  createdById: 'acc_bench',
  access: 'owner',
  holdsCreatorLogins: false,
  visibility: null,
  subdomain: null,
  setupStatus: null,
  setupError: null,
  environment: null,
  environmentVersion: null,
};

export function createSandboxes(delays: Delays, announce: Announce) {
  const byId = new Map<string, SandboxEntry>();

  function change(entry: SandboxEntry, state: SandboxEntry['state']): void {
    entry.state = state;
    refresh(entry);
  }

  function add(name: string): SandboxEntry {
    const entry: SandboxEntry = {
      id: `bx_${randomId()}`,
      name,
      createdAtMs: Date.now(),
      state: 'provisioning',
      prompts: [],
      events: [],
      stop: null,
      json: '',
    };
    refresh(entry);
    byId.set(entry.id, entry);
    setTimeout(() => {
      change(entry, 'ready');
      announce('sandbox.ready', entry, { previousState: 'provisioning', state: 'ready' });
    }, delays.bootMs);
    return entry;
  }

  function prompt(entry: SandboxEntry, text: string, conversationId = `conv_${hex(12)}`): PromptEntry {
    const id = `prm_${hex(12)}`;
    const made: PromptEntry = { id, conversationId, text, receivedAtMs: Date.now(), endedAtMs: null };
    entry.prompts.push(made);
    addEvent(entry, made, 'prompt.queued', { prompt: text });
    addEvent(entry, made, 'prompt.started', {});
    change(entry, 'running');
    setTimeout(() => {
      made.endedAtMs = Date.now();
      addEvent(entry, made, 'agent.message', { text: 'Done.' });
      addEvent(entry, made, 'prompt.completed', {});
      if (entry.state === 'running' && entry.prompts.every(({ endedAtMs }) => endedAtMs !== null))
        change(entry, 'idle');
    }, delays.promptMs);
    return made;
  }

  /** Repeating it returns the same stop. */
  function stop(entry: SandboxEntry): void {
    if (entry.stop) return;
    const stopped = { id: `stop_${hex(12)}`, requestedAtMs: Date.now(), endedAtMs: null as number | null };
    entry.stop = stopped;
    change(entry, 'archiving');
    setTimeout(() => {
      stopped.endedAtMs = Date.now();
      change(entry, 'archived');
      announce('sandbox.archived', entry, { previousState: 'archiving', state: 'archived' });
    }, delays.archiveMs);
  }

  return { byId, add, prompt, stop };
}

function addEvent(entry: SandboxEntry, prompt: PromptEntry, type: string, data: object): void {
  const id = `sev_${String(entry.events.length).padStart(24, '0')}`;
  const { id: promptId, conversationId } = prompt;
  entry.events.push({ id, type, conversationId, promptId, createdAt: new Date().toISOString(), data });
}

function refresh(entry: SandboxEntry): void {
  const { id, name, state } = entry;
  const now = new Date().toISOString();
  const times = { createdAt: time(entry.createdAtMs), updatedAt: now };
  entry.json = JSON.stringify({
    id,
    name,
    state,
    ...times,
    stop: stopRecord(entry),
    ...snapshot(entry),
    ...constantFields,
  });
}

/** A stop takes a snapshot. */
function snapshot({ stop }: SandboxEntry) {
  const completedAt = time(stop?.endedAtMs ?? null);
  return {
    snapshotAvailable: completedAt !== null,
    snapshotCompletedAt: completedAt,
    snapshotVerifiedAt: completedAt,
    lastSnapshotAttemptAt: completedAt,
    lastSnapshotStatus: completedAt === null ? null : 'completed',
  };
}

export function stopRecord({ stop }: SandboxEntry) {
  if (!stop) return null;
  const { id, requestedAtMs, endedAtMs } = stop;
  const status = endedAtMs === null ? 'pending' : 'completed';
  const endedAt = time(endedAtMs);
  return { id, status, requestedAt: time(requestedAtMs), lastAttemptAt: endedAt, error: null, endedAt };
}

export function promptRecord({ id: sandboxId }: SandboxEntry, prompt: PromptEntry) {
  const { id, conversationId, receivedAtMs, endedAtMs } = prompt;
  const isOver = endedAtMs !== null;
  return {
    id,
    sandboxId,
    conversationId,
    provider: 'codex',
    model: 'bench',
    reasoningEffort: null,
    status: isOver ? 'completed' : 'running',
    queuedAt: time(receivedAtMs),
    startedAt: time(receivedAtMs),
    endedAt: time(endedAtMs),
    result: isOver ? 'Done.' : null,
    error: null,
  };
}

function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

function randomId(): string {
  return Array.from({ length: 8 }, () => sandboxIdAlphabet[randomInt(sandboxIdAlphabet.length)]).join('');
}
