import { section } from './rule-record.js';

/** The fifteen traps that break the obvious design. */
export const trapRules = section('Traps', {
  'trap.S1': 'Nothing is pushed when a prompt finishes: running → idle is usable → usable.',
  'trap.S2': 'The answer to a prompt may hold no `promptId`; the conversation and the events are enough.',
  'trap.S3': '`Idempotency-Key` counts on create and fork only: a repeated prompt runs the agent again.',
  'trap.S4': 'A key lives 24 hours, about 2 minutes after a failed create, and belongs to one body.',
  'trap.S5': 'A create that became `cancelled` is reported once, then 404, and no webhook reports it.',
  'trap.S6': '`sandbox.archived` carries no stop id; only the stop, read by its id, shows which stop ended.',
  'trap.S7': 'A failing stop is retried by the service; a resume supersedes it.',
  'trap.S8': 'An event can arrive before the answer to the create that caused it has been stored.',
  'trap.S9':
    'Eight attempts, 5 s each, no redirects, public HTTPS 443 only, no history, a queue dropped on delete, ten endpoints.',
  'trap.S10': 'The HMAC covers `deliveryId.timestamp.rawBody`; an attempt in flight can carry the old secret.',
  'trap.S11': 'Commands neither move the state to running nor renew the TTL; only prompts do.',
  'trap.S12': 'Snapshot data is deleted 14 days after the stop; then resume and fork answer 409.',
  'trap.S13': 'A sandbox has no labels: its name is the only mark of its owner.',
  'trap.S14': '429 has four codes: one is transient, three are lasting.',
  'trap.S15': 'Old endpoints deliver the `box.*` vocabulary with the same headers.',
});
