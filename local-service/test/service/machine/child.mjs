/** A separate service, to be killed: prints a line, then starts endless commands. */
import { fileURLToPath } from 'node:url';
import { createViteServer } from 'vitest/node';

const [, , directory, isolation, sandboxId, command, count] = process.argv;
const server = await createViteServer({
  configFile: false,
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  logLevel: 'silent',
  server: { middlewareMode: true, ws: false, watch: null },
});
const { createMachineHost } = await server.ssrLoadModule('/src/machine/index.ts');
const host = await createMachineHost({ directory, isolation });
// The first has this id, and the others have it as the beginning of theirs.
const ids = Array.from({ length: Number(count) }, (_, i) => `${sandboxId}${i === 0 ? '' : i}`);
for (const id of ids) await host.createDisk(id);
process.stdout.write('starting\n');
await Promise.all(ids.map((id) => host.run(id, { command })));
// Lasts until it is killed, or its starter ends.
process.stdin.resume();
