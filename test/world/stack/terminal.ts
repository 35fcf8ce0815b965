/** The way of calls from commands in a terminal to the wire: marks them, so that the wire can tell whose they are. */
import { createServer, request } from 'node:http';
import { tagHeader } from '../../slow/matrix/tagged-client.js';

export interface Terminal {
  /** The base URL for the commands of this job. */
  urlFor(job: string): string;
  close(): Promise<void>;
}

/** @param workflowIdOf the workflow that a command of the job starts */
export async function createTerminal(wireUrl: string, workflowIdOf: (job: string) => string): Promise<Terminal> {
  const target = new URL(wireUrl);
  const server = createServer((incoming, outgoing) => {
    const [, job = '', ...path] = (incoming.url ?? '').split('/');
    const tag = { workflowId: workflowIdOf(job), taskQueue: '', activity: 'command', place: '' };
    const onward = request({
      hostname: target.hostname,
      port: target.port,
      method: incoming.method,
      path: `/${path.join('/')}`,
      headers: { ...incoming.headers, host: target.host, [tagHeader]: JSON.stringify(tag) },
    });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The terminal has no port');
  return {
    urlFor: (job) => `http://127.0.0.1:${address.port}/${job}${target.pathname}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
