import type { Target } from './target.js';

/**
 * Makes a scoped key.
 * @param body the fields of POST /api-keys/scoped; `name` may be left out
 * @param as a token that may; default the target's key
 */
export async function scopedKey(
  target: Target,
  body: Readonly<Record<string, unknown>> = {},
  as: string = target.key,
): Promise<{ readonly id: string; readonly secret: string }> {
  const answer = await target.call('POST', '/api-keys/scoped', { key: as, body: { name: 'scoped', ...body } });
  if (answer.status !== 201) throw new Error(`The key was refused: ${answer.text}`);
  return { id: answer.body.apiKey.id, secret: answer.body.secret };
}
