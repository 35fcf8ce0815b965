/**
 * Chooses the ports of a stack once and stores them, so that programs that were connected to an earlier stack find the
 * next one.
 */
import { z } from 'zod';
import { freePort, unguessableLoopback } from '../os/free-port.js';
import { readJsonFile, writePrivateFile } from '../os/private-file.js';

const port = z.number().int().min(1024).max(65_535).optional().catch(undefined);
const loopback = z
  .string()
  .regex(/^127(\.\d{1,3}){3}$/)
  .optional()
  .catch(undefined);
const portsSchema = z
  .object({ temporal: port, temporalUi: port, temporalUiHost: loopback, localService: port, bridge: port })
  .catch({});

export type StackPorts = Readonly<Awaited<ReturnType<typeof choosePorts>>>;

/**
 * Keeps each port of the file that is still free, and replaces each port that is not. A corrupt file counts as missing.
 */
export async function choosePorts(path: string) {
  const kept = portsSchema.parse((await readJsonFile(path)) ?? {});
  const taken = new Set<number>();
  const choose = async (preferred: number | undefined, host?: string) => {
    const wanted = preferred === undefined || taken.has(preferred) ? [] : [preferred];
    let chosen = await freePort(wanted, host);
    while (taken.has(chosen)) chosen = await freePort([], host);
    taken.add(chosen);
    return chosen;
  };
  const temporalUiHost = await unguessableLoopback(kept.temporalUiHost);
  const ports = {
    temporal: await choose(kept.temporal),
    temporalUi: await choose(kept.temporalUi, temporalUiHost),
    /** The loopback address of Temporal's UI, which a web page must not be able to guess. */
    temporalUiHost,
    localService: await choose(kept.localService),
    bridge: await choose(kept.bridge),
  };
  await writePrivateFile(path, `${JSON.stringify(ports)}\n`);
  return ports;
}
