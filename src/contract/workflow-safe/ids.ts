/**
 * Identifier grammars of the service (specification, "Resources and their fields"; assumptions, "Records").
 * No dependencies: workflow code imports this file.
 */

/** The characters after `bx_` in a sandbox id. */
export const sandboxIdAlphabet = '23456789abcdefghjkmnpqrstuvwxyz';
const sandboxIdPattern = new RegExp(`^bx_[${sandboxIdAlphabet}]{8}$`);

/** True when `value` has the form of a sandbox id: `bx_` and eight characters of its alphabet. */
export function isSandboxId(value: string): boolean {
  return sandboxIdPattern.test(value);
}

/** The pattern of each kind of id, for schemas and messages. */
export const idPatterns = {
  sandbox: sandboxIdPattern,
  stop: /^stop_[0-9a-f]+$/,
  prompt: /^prm_[0-9a-f]{24}$/,
  conversation: /^conv_[0-9a-f]{24}$/,
  snapshot: /^snap_[0-9a-f]{24}$/,
  deletionOperation: /^del_[0-9a-f]{24}$/,
  webhook: /^wh_[0-9a-f]{24}$/,
  apiKey: /^sak_[0-9a-f]{24}$/,
  webhookEvent: /^evt_[0-9a-f]{32}$/,
} as const;
