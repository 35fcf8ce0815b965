/** `/_local/seed` and `reset`: the state of the service as a whole. */
import type { FastifyInstance } from 'fastify';
import type { StateControl } from '../../state/control.js';

const maxSeedBytes = 64 * 1024 * 1024;

export function registerStateRoutes(server: FastifyInstance, state: StateControl): void {
  server.post('/_local/seed', { bodyLimit: maxSeedBytes }, async (request) => ({
    ok: true,
    type: 'local.seeded',
    ...(await state.seed(request.body)),
  }));
  server.post('/_local/reset', async () => {
    await state.reset();
    return { ok: true, type: 'local.reset' };
  });
}
