/** What is not part of the service: its books, and faults to order. Under `/_local`, behind the same key. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { faultSpecificationSchema } from '../../faults/fault-specification.js';
import type { Faults } from '../../faults/faults.js';
import type { Inspection } from '../../inspection.js';
import { ServiceError } from '../../service-error.js';

const filterSchema = z.object({ sandboxId: z.string().optional(), name: z.string().optional() });

export function registerAdminRoutes(
  server: FastifyInstance,
  options: { readonly books: Inspection; readonly faults: Faults; readonly faultsEnabled: boolean },
): void {
  const { books, faults, faultsEnabled } = options;
  const answer = (type: string, fields: object) => ({ ok: true, type, ...fields });

  server.get('/_local/books', (request) => {
    const parsed = filterSchema.safeParse(request.query);
    if (!parsed.success) throw new ServiceError(400, 'invalid_request', 'Give sandboxId and name at most once each.');
    const filter = parsed.data;
    return answer('local.books', {
      calls: books.calls(filter),
      sandboxes: books.sandboxes(filter),
      prompts: books.prompts(filter),
      stops: books.stops(filter),
      deliveries: books.deliveries(filter),
    });
  });
  server.get('/_local/books/summary', () => answer('local.books.summary', { summary: books.summary() }));

  server.get('/_local/faults', () => {
    requireFaults();
    return answer('local.faults', { faults: faults.list() });
  });
  server.post('/_local/faults', (request, reply) => {
    requireFaults();
    const parsed = faultSpecificationSchema.safeParse(request.body);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      throw new ServiceError(400, 'invalid_request', `${issue?.path.join('.') || 'kind'}: ${issue?.message}`);
    }
    reply.code(201).send(answer('local.fault', { fault: faults.add(parsed.data) }));
  });
  server.delete('/_local/faults', () => {
    requireFaults();
    faults.clear();
    return answer('local.faults', { faults: [] });
  });

  function requireFaults(): void {
    if (!faultsEnabled) throw new ServiceError(403, 'forbidden', 'Faults are off. Start the service with faults on.');
  }
}
