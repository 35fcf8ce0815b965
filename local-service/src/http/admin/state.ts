/** `/_local/seed` and `reset`: the state of the service as a whole. */
import { PassThrough } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../../log.js';
import type { StateControl } from '../../state/control.js';
import { callOf } from '../call.js';
import { asServiceError, errorEnvelope } from '../error-envelope.js';

const maxSeedBytes = 64 * 1024 * 1024;
const linesType = 'application/x-ndjson';

export function registerStateRoutes(
  server: FastifyInstance,
  { state, log }: { readonly state: StateControl; readonly log: Log },
): void {
  const seed = async (...args: Parameters<StateControl['seed']>) => ({
    ok: true,
    type: 'local.seeded',
    ...(await state.seed(...args)),
  });

  server.post('/_local/seed', { bodyLimit: maxSeedBytes }, async (request, reply) => {
    if (request.headers.accept !== linesType) return await seed(request.body);
    const lines = new PassThrough();
    const write = (line: object) => void lines.write(`${JSON.stringify(line)}\n`);
    void seed(request.body, { onProgress: (made, of) => write({ made, of }) })
      .catch((cause: unknown) => errorEnvelope(asServiceError(cause, log), callOf(request).requestId))
      .then((last) => {
        write(last);
        lines.end();
      });
    return reply.type(linesType).send(lines);
  });
  server.post('/_local/reset', async () => {
    await state.reset();
    return { ok: true, type: 'local.reset' };
  });
}
