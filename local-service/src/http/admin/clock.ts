/** `/_local/clock`: reads, holds, releases and moves the clock of the service. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ControlledClock } from '../../clock.js';
import { read } from '../parse-input.js';

const maxAdvanceSeconds = 366 * 24 * 3_600;

const moveSchema = z.strictObject({
  held: z.boolean().optional(),
  advanceSeconds: z.number().nonnegative().max(maxAdvanceSeconds).optional(),
  catchUp: z.boolean().optional(),
});

export const clockView = (clock: ControlledClock) => ({ now: clock.iso(), held: clock.state().heldAt !== null });

export function registerClockRoutes(server: FastifyInstance, clock: ControlledClock): void {
  const shown = () => ({ ok: true, type: 'local.clock', clock: clockView(clock) });

  server.get('/_local/clock', shown);
  server.post('/_local/clock', async (request) => {
    const message = `Specify at least one of held (true or false), advanceSeconds (0 to ${maxAdvanceSeconds}) and catchUp (true).`;
    const { held, advanceSeconds, catchUp } = read(moveSchema, request.body, { message });
    if (held === true) clock.hold();
    if (advanceSeconds !== undefined) await clock.advance(advanceSeconds * 1000);
    if (held === false) clock.release();
    if (catchUp === true) await clock.catchUp();
    return shown();
  });
}
