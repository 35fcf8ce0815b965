/** Every fault of an answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, type ErrorMeaning, errorCodes } from '../../../../src/contract/workflow-safe/error-codes.js';
import { type Answer, type Exchange, give, readJson, type Striker } from './fault-proxy.js';
import {
  type ForeignIds,
  rowsOfAnswer,
  withBadRow,
  withForeignIds,
  withIds,
  withoutIds,
  withWrongTypes,
} from './garble.js';

/** What a caller can conclude from it: see `allowed.ts`. */
export type FaultClass = ErrorMeaning | 'gone' | 'ambiguous' | 'own_row' | 'others_row';

export interface Fault extends Striker {
  readonly class: FaultClass;
  /** Whether it changes this answer. Default: every one. */
  readonly concerns?: (answer: unknown) => boolean;
}

/** One code for each meaning, and the code for a missing resource. */
const typedCodes: readonly (readonly [ErrorCode, FaultClass])[] = [
  ['forbidden', 'permanent'],
  ['account_not_ready', 'wait_out'],
  ['fork_failed', 'few_tries'],
  ['rate_limited', 'throttled_shortly'],
  ['limit_reached', 'throttled_for_long'],
  ['billing_required', 'blocked'],
  ['http_500', 'unavailable'],
  ['sandbox_not_found', 'gone'],
];

const json = (value: unknown, status = 200): Answer => ({
  status,
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});
const page = (status: number): Answer => ({
  status,
  type: 'text/html',
  body: Buffer.from(`<html><head><title>${status}</title></head><body><h1>nginx</h1></body></html>`),
});

function typed(code: ErrorCode, ofClass: FaultClass, retryAfter: boolean): Fault {
  const status = errorCodes[code].statuses[0];
  const message = `${code}, says the matrix`;
  const refusal = { ok: false, type: 'sandbox.error', status, code, message, error: { code, message, status } };
  return {
    name: `${code}${retryAfter ? '+retry-after' : ''}`,
    class: ofClass,
    async strike({ response }) {
      if (retryAfter) response.setHeader('retry-after', '1');
      give(response, json({ ...refusal, requestId: `req_${'0'.repeat(24)}` }, status));
    },
  };
}

const answered = (name: string, answer: Answer, ofClass: FaultClass = 'ambiguous'): Fault => ({
  name,
  class: ofClass,
  strike: async ({ response }) => give(response, answer),
});

/** The call is made, and its answer is replaced. */
function garbled(name: string, garble: (answer: unknown) => unknown): Fault {
  return {
    name,
    class: 'unreadable',
    concerns: (answer) => JSON.stringify(garble(answer)) !== JSON.stringify(answer),
    async strike({ forward, response }: Exchange) {
      const answer = await forward();
      const read = readJson(answer.body);
      give(response, answer.status >= 400 || read === undefined ? answer : json(garble(read), answer.status));
    },
  };
}

/** One row of a list is unreadable: one of the run's own rows, or another one. */
function badRow(name: string, ofClass: FaultClass, pick: (isOwn: readonly boolean[]) => number | undefined): Fault {
  return {
    name,
    class: ofClass,
    concerns: (answer) => {
      const rows = rowsOfAnswer(answer);
      return rows !== undefined && (ofClass === 'others_row' || rows.some((row) => typeof row === 'object'));
    },
    async strike({ forward, response, call, owns }: Exchange) {
      const answer = await forward();
      const read = readJson(answer.body);
      const rows = (answer.status < 400 && rowsOfAnswer(read)) || [];
      const at = pick(rows.map((row) => owns(call.sandboxId ?? sandboxOf(row))));
      give(response, answer.status >= 400 || at === undefined ? answer : json(withBadRow(read, at), answer.status));
    },
  };
}

/** For the row of a sandbox, or of a resource that belongs to one. */
function sandboxOf(row: unknown): string {
  const { id, sandboxId = id } = (row ?? {}) as { readonly id?: string; readonly sandboxId?: string };
  return sandboxId ?? '';
}

/** @param foreign ids of foreign resources in the service */
export function allFaults(foreign: ForeignIds): readonly Fault[] {
  return [
    ...typedCodes.flatMap(([code, ofClass]) => [typed(code, ofClass, false), typed(code, ofClass, true)]),
    ...[403, 404, 413, 429, 502, 503].map((status) => answered(`page-${status}`, page(status))),
    answered('garbage-text', { status: 200, type: 'application/json', body: Buffer.from('<<not json>>') }),
    answered('garbage-array', json([]), 'unreadable'),
    answered('garbage-empty', json({}), 'unreadable'),
    {
      name: 'truncated',
      class: 'ambiguous',
      async strike({ forward, response }) {
        const answer = await forward();
        give(response, { ...answer, body: answer.body.subarray(0, Math.floor(answer.body.length / 2)) });
      },
    },
    {
      name: 'page-502-after',
      class: 'ambiguous',
      async strike({ forward, response }) {
        await forward();
        give(response, page(502));
      },
    },
    garbled('wrong-types', withWrongTypes),
    garbled('missing-ids', withoutIds),
    garbled('malformed-ids', (answer) => withIds(answer, () => '../not an id')),
    garbled('foreign-ids', (answer) => withForeignIds(answer, foreign)),
    badRow('bad-row-own', 'own_row', (isOwn) => (isOwn.includes(true) ? isOwn.lastIndexOf(true) : undefined)),
    badRow('bad-row-others', 'others_row', (isOwn) => isOwn.indexOf(false)),
    { name: 'dropped-before', class: 'ambiguous', strike: async ({ drop }) => drop() },
    {
      name: 'dropped-after',
      class: 'ambiguous',
      async strike({ forward, drop }) {
        await forward();
        drop();
      },
    },
    {
      name: 'late',
      class: 'ambiguous',
      async strike({ forward, gone }) {
        await gone;
        await sleep(300);
        await forward();
      },
    },
    { name: 'hung', class: 'ambiguous', strike: ({ gone }) => gone },
    {
      // For scenarios. It has no rows, since it differs from `dropped-after` only in time.
      name: 'unanswered-after',
      class: 'ambiguous',
      concerns: () => false,
      async strike({ forward, gone }) {
        await forward();
        await gone;
      },
    },
  ];
}
