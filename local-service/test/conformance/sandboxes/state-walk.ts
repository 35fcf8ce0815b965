/** Runs operations on a service with a held clock, and checks every state against the model. */
import { expect } from 'vitest';
import type { LocalTarget } from '../target/index.js';
import { type Cause, eventOf, movesOf, mustMove } from './state-model.js';

/** Shorter than any step of the service, so that no two changes coincide. */
export const stepMs = 500;
export const walkTimings = {
  initMs: 1_000,
  bootMs: 2_000,
  archiveMs: 1_000,
  stopRetryMs: 1_000,
  deleteMs: 1_000,
  hydrationMs: 3_000,
};

export type Operation =
  | { readonly kind: 'create'; readonly fault: 'none' | 'cancelled' | 'error' | 'recovering'; readonly ttl: boolean }
  | { readonly kind: 'fork'; readonly pick: number; readonly fault: 'none' | 'cancelled' }
  | { readonly kind: Exclude<Cause, 'time'>; readonly pick: number }
  | { readonly kind: 'failing_stop'; readonly pick: number }
  | { readonly kind: 'time'; readonly steps: number };

export interface Walk {
  perform(operation: Operation): Promise<void>;
  /** The events that the changes so far should have sent, for each sandbox in order. */
  events(): ReadonlyMap<string, readonly string[]>;
  /** Every change that was seen, as `from → to`. */
  readonly moves: ReadonlySet<string>;
}

const waitingFor = (file: string) => `\`\`\`sh\nuntil test -e ${file}; do sleep 0.01; done\n\`\`\``;

export function startWalk(local: LocalTarget): Walk {
  const states = new Map<string, string>();
  const sent = new Map<string, string[]>();
  /** The files that the prompts of a sandbox wait for. No later prompt finds one of them, nor does a prompt of a fork. */
  const files = new Map<string, string[]>();
  let prompts = 0;
  const moves = new Set<string>();

  async function stateOf(id: string): Promise<string> {
    const { status, body } = await local.call('GET', `/sandboxes/${id}`);
    return status === 404 ? 'gone' : body.sandbox.state;
  }

  /** Reads every sandbox; only that of the cause may have changed because of it. */
  async function look(cause: Cause, subject?: string): Promise<void> {
    for (const [id, before] of states) {
      if (before === 'gone') continue;
      const now = await stateOf(id);
      const own = cause === 'time' || id === subject;
      const allowed = own ? movesOf(before, cause) : before === 'cancelled' ? ['gone'] : [];
      if (now !== before) {
        expect(allowed, `${before} → ${now} by ${own ? cause : `${cause} of another`}`).toContain(now);
        moves.add(`${before} → ${now}`);
        const event = eventOf(before, now);
        if (event) sent.set(id, [...(sent.get(id) ?? []), event]);
      } else expect(own && mustMove(before, cause), `${before} stayed by ${cause}`).toBe(false);
      states.set(id, now);
    }
  }

  const pick = (number: number): string | undefined => {
    const there = [...states].filter(([, state]) => state !== 'gone').map(([id]) => id);
    return there[number % there.length];
  };

  async function accepted(path: string, body: object): Promise<void> {
    const answer = await local.call('POST', path, { body });
    if (answer.status === 202) {
      expect(answer.body.sandbox.state).toBe('init');
      states.set(answer.body.sandbox.id, 'init');
      return;
    }
    const known = states.get(/bx_\w+/.exec(path)?.[0] ?? '');
    if (known === 'cancelled') expect(answer).toMatchObject({ status: 404, body: { code: 'sandbox_not_found' } });
    else expect(answer).toMatchObject({ status: 409, body: { code: 'fork_failed' } });
    expect(['ready', 'idle', 'running']).not.toContain(known);
  }

  const act: Readonly<Record<Exclude<Cause, 'time'>, (id: string) => Promise<unknown>>> = {
    stop: (id) => local.call('POST', `/sandboxes/${id}/stop`),
    resume: (id) => local.call('POST', `/sandboxes/${id}/resume`),
    async prompt(id) {
      prompts += 1;
      const file = `go-${prompts}`;
      const { status } = await local.prompt(id, waitingFor(file));
      if (status === 202) files.set(id, [...(files.get(id) ?? []), file]);
    },
    interrupt: (id) => local.call('POST', `/sandboxes/${id}/interrupt`),
    async finish(id) {
      if ((await stateOf(id)) !== 'running') return;
      for (const path of files.get(id) ?? []) {
        const { status } = await local.call('PUT', `/sandboxes/${id}/files`, { body: { path, content: '' } });
        expect(status).toBe(200);
      }
      files.delete(id);
      await expect.poll(() => stateOf(id), { interval: 5 }).not.toBe('running');
    },
    error: (id) => change(id, { state: 'error' }),
    recover: (id) => change(id, { state: 'ready' }),
    delete: (id) => local.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } }),
  };

  const change = (id: string, body: object) =>
    fetch(`${local.service.adminUrl}/sandboxes/${id}`, {
      method: 'PATCH',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${local.key}`, 'content-type': 'application/json' },
    });

  return {
    moves,
    events: () => sent,
    async perform(operation) {
      if (operation.kind === 'time') {
        for (let step = 0; step < operation.steps; step++) {
          await local.service.clock.advance(stepMs);
          await look('time');
        }
        return;
      }
      if (operation.kind === 'create') {
        const { fault } = operation;
        if (fault === 'cancelled') await local.arm({ kind: 'create_cancelled' });
        if (fault === 'error') await local.arm({ kind: 'boot_error' });
        if (fault === 'recovering') await local.arm({ kind: 'boot_error', recoverMs: 1_000 });
        await accepted('/sandboxes', { ttlSeconds: operation.ttl ? 4 : null });
        return;
      }
      const id = pick(operation.pick);
      if (id === undefined) return;
      if (operation.kind === 'fork') {
        const forkable = ['ready', 'idle', 'running', 'archived'].includes(states.get(id) ?? '');
        if (operation.fault === 'cancelled' && forkable) await local.arm({ kind: 'create_cancelled' });
        await accepted(`/sandboxes/${id}/fork`, {});
        return;
      }
      if (operation.kind === 'failing_stop') {
        if (movesOf(states.get(id) ?? '', 'stop').length > 0) await local.arm({ kind: 'stop_fails' });
        await act.stop(id);
        await look('stop', id);
        return;
      }
      await act[operation.kind](id);
      await look(operation.kind, id);
    },
  };
}
