/** A separate service, to be killed: restores a disk again and again. */
import { createViteServer } from 'vitest/node';

const [, , directory, sandboxId, snapshotId] = process.argv;
const server = await createViteServer({
  configFile: false,
  logLevel: 'silent',
  server: { middlewareMode: true, ws: false, watch: null },
});
const { createMachineHost } = await server.ssrLoadModule('/src/local-service/machine/index.ts');
const host = await createMachineHost({ directory, isolation: 'plain' });
for (;;) await (await host.restoreDisk(sandboxId, snapshotId)).ended;
