/** A separate service, to be killed: restores a disk again and again. */
import { fileURLToPath } from 'node:url';
import { createViteServer } from 'vitest/node';

const [, , directory, sandboxId, snapshotId] = process.argv;
const server = await createViteServer({
  configFile: false,
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  logLevel: 'silent',
  server: { middlewareMode: true, ws: false, watch: null },
});
const { createMachineHost } = await server.ssrLoadModule('/src/machine/index.ts');
const host = await createMachineHost({ directory, isolation: 'plain' });
for (;;) await (await host.restoreDisk(sandboxId, snapshotId)).ended;
