import type { Target } from './target.js';

/**
 * Creates a scoped key.
 * @param body the fields of POST /api-keys/scoped; `name` is optional
 * @param as a token with that right; default the target's key
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
