/** A separate service that may open few files: prints what a command does with each number of free ones, and after it. */
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createViteServer } from 'vitest/node';

const [, , directory, isolation, most, lowest = '0'] = process.argv;
const server = await createViteServer({
  configFile: false,
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  logLevel: 'silent',
  server: { middlewareMode: true, ws: false, watch: null },
});
const { createMachineHost } = await server.ssrLoadModule('/src/machine/index.ts');
const host = await createMachineHost({ directory, isolation });
const said = (work) =>
  work.then(
    (result) => ({ works: result }),
    (error) => ({
      name: error.constructor.name,
      code: error.code,
      message: error.message,
    }),
  );
const results = [];
for (let free = Number(lowest); free <= Number(most); free += 1) {
  const id = `bx_few${String(free).padStart(5, '0')}`;
  await host.createDisk(id);
  const taken = [];
  try {
    for (;;) taken.push(openSync('/dev/null'));
  } catch {
    for (const fd of taken.splice(0, free)) closeSync(fd);
  }
  const command = await said(host.run(id, { command: 'echo works' }).then(({ stdout }) => stdout));
  for (const fd of taken) closeSync(fd);
  await host.endProcesses(id);
  const again = await said(host.run(id, { command: 'echo works' }).then(({ stdout }) => stdout));
  await host.endProcesses(id);
  results.push({ free, command, again });
}
await host.close();
process.stdout.write(JSON.stringify({ lacks: host.description.lacks, results }), () => process.exit(0));
