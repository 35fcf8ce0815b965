/**
 * The value that replaces unencrypted input, so that a workflow can refuse it. If the codec threw an error instead, the
 * workflow would be stuck for ever. No dependencies: workflow code imports this file.
 */

const field = 'sandflowRefused';

export const refusedInput = { [field]: 'not_encrypted' } as const;

/** By this text, a bundle is known to refuse unencrypted input. */
export const refusedSignalText = 'A signal was dropped because it was not encrypted.';

export function isRefusedInput(value: unknown): boolean {
  return typeof value === 'object' && value !== null && field in value;
}
