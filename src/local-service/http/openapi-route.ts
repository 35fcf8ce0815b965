/** `/openapi.json`: what the service answers, for people and tools; it needs no key. */
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../contract/openapi/document.js';

export const openApiPath = '/openapi.json';

export function registerOpenApiRoute(server: FastifyInstance): void {
  let text: string | undefined;
  server.get(openApiPath, (_request, reply) => {
    text ??= JSON.stringify(openApiDocument());
    return reply.type('application/json; charset=utf-8').send(text);
  });
}
