/** Computes digests of inputs, which do not depend on where the texts of an input are stored. */
import { hash } from 'node:crypto';
import type { JobInput } from '../protocol/job/job-input.js';

/** Equal values have the same digest, even if one contains a text and the other a reference to it. */
export function contentDigest(value: unknown): string {
  const text = JSON.stringify(value, (_, part) => textDigest(part) ?? part);
  return hash('sha256', text).slice(0, 16);
}

/** Computes a digest of a job's input, without job id and deployment. */
export function inputDigest(input: JobInput): string {
  const { jobId: _, deployment: __, ...rest } = input;
  return contentDigest(rest);
}

/** The digest of a text, a stored text or a file; undefined for anything else. */
function textDigest(part: unknown): string | undefined {
  if (typeof part === 'string') return hash('sha256', part);
  if (typeof part !== 'object' || part === null) return undefined;
  if ('sha256' in part && 'ref' in part) return String(part.sha256);
  if ('base64' in part) return hash('sha256', Buffer.from(String(part.base64), 'base64'));
  if ('ref' in part) return /\binputs\/([0-9a-f]{64})$/.exec(String(part.ref))?.[1];
  return undefined;
}
