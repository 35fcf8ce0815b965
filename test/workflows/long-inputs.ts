/** Texts and files around Temporal's limits: below a payload, above a usual size, above a payload, above a message. */
import type { FilePut } from '../../workflows/index.js';
import { script } from './workflow-harness.js';

export const sizes = [900_000, 1_100_000, 2_100_000, 12_000_000];

export const padded = (text: string, bytes: number) => `${text}\n${'x'.repeat(bytes)}`;
export const longPrompt = (bytes: number, commands = 'echo done') => padded(script(commands), bytes);
export const longScript = (bytes: number) => `echo ran >> ran.txt\n#${'x'.repeat(bytes)}\n`;
export const longFile = (path: string, bytes: number): FilePut => ({
  path,
  content: { base64: Buffer.alloc(bytes, 'x').toString('base64') },
});
