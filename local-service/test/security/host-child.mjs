/** A machine host in a separate process of its starter's user. Reads calls and writes answers, a line of JSON each. */
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createViteServer } from 'vitest/node';

const { size, ...options } = JSON.parse(process.argv[2]);
const server = await createViteServer({
  configFile: false,
  root: fileURLToPath(new URL('../../', import.meta.url)),
  logLevel: 'silent',
  cacheDir: `${options.directory}-vite`,
  server: { middlewareMode: true, ws: false, watch: null },
});
const { createMachineHost } = await server.ssrLoadModule('/src/machine/index.ts');
const host = await createMachineHost({ ...options, ...(size && { sizeOf: () => size }) });
process.stdout.write(`${JSON.stringify(host.description)}\n`);
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { call, method, args } = JSON.parse(line);
  const answer = await host[method](...args).then(
    (result) => ({ call, result: result ?? null }),
    (error) => ({ call, error: String(error?.message ?? error), code: error?.code }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
});
