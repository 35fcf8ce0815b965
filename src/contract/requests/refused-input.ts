/**
 * The replacement for input that a worker refuses because it is not encrypted. Without it, the unreadable input would
 * block the workflow for ever. No dependencies: workflow code imports this file.
 */

const field = 'sandflowRefused';

export const refusedInput = { [field]: 'not_encrypted' } as const;

export function isRefusedInput(value: unknown): boolean {
  return typeof value === 'object' && value !== null && field in value;
}
