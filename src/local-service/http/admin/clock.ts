/** `/_local/clock`: reads, holds, releases and moves the one clock of the service. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ControlledClock } from '../../clock.js';
import { ServiceError } from '../../service-error.js';

const maxAdvanceSeconds = 366 * 24 * 3_600;

const moveSchema = z.strictObject({
  held: z.boolean().optional(),
  advanceSeconds: z.number().nonnegative().max(maxAdvanceSeconds).optional(),
});

export function registerClockRoutes(server: FastifyInstance, clock: ControlledClock): void {
  const shown = () => ({
    ok: true,
    type: 'local.clock',
    clock: { now: clock.iso(), held: clock.state().heldAt !== null },
  });

  server.get('/_local/clock', shown);
  server.post('/_local/clock', async (request) => {
    const parsed = moveSchema.safeParse(request.body);
    if (!parsed.success) {
      const message = `Give held (true or false), advanceSeconds (0 to ${maxAdvanceSeconds}), or both.`;
      throw new ServiceError(400, 'invalid_request', message);
    }
    const { held, advanceSeconds } = parsed.data;
    if (held === true) clock.hold();
    if (advanceSeconds !== undefined) await clock.advance(advanceSeconds * 1000);
    if (held === false) clock.release();
    return shown();
  });
}
