import { createServer, type Server } from 'node:http';
import { connectTemporal, createBridge, createSecretSource } from '../../../../src/index.js';

/** Mounts the bridge next to your own routes. */
export async function serve(port: number): Promise<Server> {
  const temporalClient = await connectTemporal({ address: 'temporal.example.com:7233' });
  const secrets = createSecretSource({ fixed: [], file: '/var/lib/sandflow/webhook-secrets' });
  const { handler } = createBridge({ temporalClient, secrets });
  const server = createServer((request, response) => {
    if (request.url === '/') response.end('hello\n');
    else handler(request, response);
  });
  return server.listen(port);
}
