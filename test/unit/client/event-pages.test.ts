/** The history of a sandbox, in pages. Unit. */
import { expect, it } from 'vitest';
import { eventPages } from '../../../src/client/event-pages.js';
import { ApiError } from '../../../src/client/index.js';

type Read = Parameters<typeof eventPages>[1];

const full = Array.from({ length: 100 }, (_, at) => ({ id: `sev_${at}`, type: 'agent.message', createdAt: null }));
const refused = (status: number) => {
  const fields = { typed: true, requestId: null, retryAfterMs: null, details: null } as const;
  return new ApiError('refused', { endpoint: 'listEvents', status, code: 'refused', meaning: 'permanent', ...fields });
};

/** The number of events that are read, if the page after the first one is refused. */
async function readWith(first: object, status: number): Promise<number> {
  let asked = 0;
  const read = async () => {
    asked += 1;
    if (asked > 1) throw refused(status);
    return { ok: true, events: full, ...first };
  };
  let count = 0;
  for await (const { events } of eventPages({}, read as unknown as Read)) count += events.length;
  return count;
}

it.each([400, 404, 410, 416, 422])(
  'ends at a full page if the service refuses to go on after it, with %i',
  async (status) => {
    expect(await readWith({}, status)).toBe(100);
  },
);

it('fails if the service refuses what it has promised, or fails', async () => {
  await expect(readWith({ hasMore: true }, 400)).rejects.toMatchObject({ status: 400 });
  await expect(readWith({}, 500)).rejects.toMatchObject({ status: 500 });
});
