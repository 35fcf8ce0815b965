/** `/_local/export`, `import`, `seed` and `reset`: the state of the service as a whole. */
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { invalidRequest } from '../../service-error.js';
import type { StateControl } from '../../state/control.js';

const archiveType = 'application/gzip';
const maxSeedBytes = 64 * 1024 * 1024;

export function registerStateRoutes(server: FastifyInstance, state: StateControl): void {
  server.get('/_local/export', async (_request, reply) => {
    const stream = await state.export();
    return reply.type(archiveType).send(stream);
  });
  server.post('/_local/seed', { bodyLimit: maxSeedBytes }, async (request) => ({
    ok: true,
    type: 'local.seeded',
    ...(await state.seed(request.body)),
  }));
  server.post('/_local/reset', async () => {
    await state.reset();
    return { ok: true, type: 'local.reset' };
  });
  // Only this scope accepts an archive: everywhere else a body is read as JSON, with any content type.
  server.register(async (scope) => {
    scope.addContentTypeParser(archiveType, (_request, payload, done) => done(null, payload));
    scope.post('/_local/import', async (request) => {
      if (request.headers['content-type'] !== archiveType) {
        throw invalidRequest(`Send the archive with Content-Type: ${archiveType}.`);
      }
      return { ok: true, type: 'local.imported', ...(await state.import(request.body as Readable)) };
    });
  });
}
