/**
 * What takes the place of input that a worker refuses, since it is not encrypted: input that cannot be read would hold
 * up a workflow for ever. No dependencies: workflow code imports this file.
 */

const field = 'sandflowRefused';

export const refusedInput = { [field]: 'not_encrypted' } as const;

export function isRefusedInput(value: unknown): boolean {
  return typeof value === 'object' && value !== null && field in value;
}
