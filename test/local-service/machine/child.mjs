/** A separate service, to be killed: prints a line, then starts endless commands. */
import { createViteServer } from 'vitest/node';

const [, , directory, isolation, sandboxId, command, count] = process.argv;
const server = await createViteServer({
  configFile: false,
  logLevel: 'silent',
  server: { middlewareMode: true, ws: false, watch: null },
});
const { createMachineHost } = await server.ssrLoadModule('/src/local-service/machine/index.ts');
const host = await createMachineHost({ directory, isolation });
await host.createDisk(sandboxId);
process.stdout.write('starting\n');
await Promise.all(Array.from({ length: Number(count) }, () => host.run(sandboxId, { command })));
