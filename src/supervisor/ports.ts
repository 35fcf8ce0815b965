/** The ports of a stack: chosen once and kept, so that what was connected to an earlier stack finds the next one. */
import { z } from 'zod';
import { freePort } from '../temporal/free-port.js';
import { readJsonFile, writePrivateFile } from './private-file.js';

const port = z.number().int().min(1024).max(65_535).optional().catch(undefined);
const portsSchema = z.object({ temporal: port, temporalUi: port, localService: port, bridge: port }).catch({});

export interface StackPorts {
  readonly temporal: number;
  readonly temporalUi: number;
  readonly localService: number;
  readonly bridge: number;
}

/** Takes each port of the file that is still free and another for each that is not. A corrupt file counts as none. */
export async function choosePorts(path: string): Promise<StackPorts> {
  const kept = portsSchema.parse((await readJsonFile(path)) ?? {});
  const taken = new Set<number>();
  const choose = async (preferred: number | undefined) => {
    const wanted = preferred === undefined || taken.has(preferred) ? [] : [preferred];
    let chosen = await freePort(wanted);
    while (taken.has(chosen)) chosen = await freePort();
    taken.add(chosen);
    return chosen;
  };
  const ports = {
    temporal: await choose(kept.temporal),
    temporalUi: await choose(kept.temporalUi),
    localService: await choose(kept.localService),
    bridge: await choose(kept.bridge),
  };
  await writePrivateFile(path, `${JSON.stringify(ports)}\n`);
  return ports;
}
