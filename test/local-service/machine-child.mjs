/** A service of its own, to be killed: starts commands that do not end, and prints a line when they run. */
import { createViteServer } from 'vitest/node';

const [, , directory, isolation, sandboxId] = process.argv;
const server = await createViteServer({
  configFile: false,
  logLevel: 'silent',
  server: { middlewareMode: true, ws: false, watch: null },
});
const { createMachineHost } = await server.ssrLoadModule('/src/local-service/machine/index.ts');
const host = await createMachineHost({ directory, isolation });
await host.createDisk(sandboxId);
const command = 'sleep 987654 & setsid sleep 987655 & echo started; wait';
await host.run(sandboxId, { command }, { onStdout: (text) => process.stdout.write(text) });
