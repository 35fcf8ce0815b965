/** `/_local/isolation`: how sandboxes are isolated, and what they can reach. */
import type { FastifyInstance } from 'fastify';
import type { IsolationReport } from '../../isolation-report.js';

export function registerIsolationRoute(server: FastifyInstance, isolation: IsolationReport): void {
  server.get('/_local/isolation', () => ({ ok: true, type: 'local.isolation', isolation }));
}
