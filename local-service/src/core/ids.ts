import { randomBytes } from 'node:crypto';
import { sandboxIdAlphabet } from '../../../src/contract/workflow-safe/ids.js';

const sandboxIdLength = 8;

/** The account of the key that the service was started with. It exists in every service. */
export const firstAccountId = 'acct_local';

/** `bx_` and eight characters of the alphabet (specification, "Sandbox"). */
export function newSandboxId(): string {
  let id = 'bx_';
  while (id.length < 'bx_'.length + sandboxIdLength) {
    for (const byte of randomBytes(16)) {
      // Larger bytes are skipped. Otherwise the first characters of the alphabet would be more likely.
      if (byte >= 256 - (256 % sandboxIdAlphabet.length)) continue;
      id += sandboxIdAlphabet[byte % sandboxIdAlphabet.length];
      if (id.length === 'bx_'.length + sandboxIdLength) break;
    }
  }
  return id;
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

export const newStopId = (): string => `stop_${hex(12)}`;
export const newPromptId = (): string => `prm_${hex(12)}`;
export const newConversationId = (): string => `conv_${hex(12)}`;
export const newSnapshotId = (): string => `snap_${hex(12)}`;
export const newDeletionId = (): string => `del_${hex(12)}`;
export const newWebhookId = (): string => `wh_${hex(12)}`;
export const newWebhookEventId = (): string => `evt_${hex(16)}`;
export const newCommandId = (): string => `cmd_${hex(12)}`;
export const newRequestId = (): string => `req_${hex(12)}`;
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`;

const first = ['amber', 'brisk', 'calm', 'dusty', 'early', 'faint', 'green', 'hazel', 'ivory', 'late', 'mild', 'north'];
const second = ['river', 'meadow', 'harbor', 'canyon', 'forest', 'island', 'valley', 'summit', 'lagoon', 'orchard'];
const third = ['heron', 'otter', 'finch', 'lynx', 'raven', 'trout', 'badger', 'swift', 'stoat', 'marten'];

/** A three-word slug, always the same for a sandbox. */
export function subdomainOf(sandboxId: string): string {
  let number = 0;
  for (const character of sandboxId) number = (number * 31 + character.charCodeAt(0)) >>> 0;
  const pick = (words: readonly string[], shift: number) => words[(number >>> shift) % words.length] ?? '';
  return `${pick(first, 0)}-${pick(second, 8)}-${pick(third, 16)}`;
}
