/** Tells an orchestrator whether a worker runs, and whether it takes tasks. */
import { createServer } from 'node:http';
import { boundStrangers } from '../../os/bound-strangers.js';
import { listen } from '../../os/listen.js';
import { withoutEndSlashes } from '../../texts/urls.js';
import { type Address, listened } from './serving.js';

/** Beyond this number, the one whose last request is the oldest is closed. */
const maxConnections = 100;
const timeouts = { requestTimeout: 10_000, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/**
 * Answers `/healthz` with 200 while the process runs, and `/readyz` with 200 only if there is no problem: to GET, and to
 * HEAD, with which some monitors ask.
 * @param problem says why the worker takes no tasks; undefined if it takes them
 * @returns closes the port
 * @throws SandflowError `port_in_use` and UsageError, which name `--health`
 */
export async function serveHealth(
  { host, port }: Address,
  problem: () => Promise<string | undefined>,
): Promise<() => Promise<void>> {
  const server = createServer(timeouts, (request, response) => {
    const answer = (status: number, text: string) => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
    };
    const path = withoutEndSlashes((request.url ?? '').split('?', 1)[0] ?? '');
    const isAsked = request.method === 'GET' || request.method === 'HEAD';
    if (isAsked && path === '/healthz') return answer(200, 'ok');
    if (!isAsked || path !== '/readyz') return answer(404, 'not_found');
    problem().then(
      (found) => answer(found === undefined ? 200 : 503, found ?? 'ready'),
      () => answer(500, 'internal_error'),
    );
  });
  boundStrangers(server, { most: maxConnections });
  await listened(listen(server, { host, port }), { option: '--health', host, port });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}
