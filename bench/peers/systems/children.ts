/** Processes of a peer that can be killed and started again. */
import { join } from 'node:path';
import { type Child, startChild } from '../../processes/child.js';
import type { ProcessMessage } from '../../processes/entry.js';

export interface Children {
  all(): readonly Child[];
  /** Ends all of them with the signal, then starts them with the same settings. */
  restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  close(): Promise<void>;
}

export interface Program {
  readonly entry: URL;
  /** Also the name of its log. */
  readonly name: string;
  readonly settings: object;
  readonly onMessage?: (message: ProcessMessage) => void;
}

export async function startChildren(directory: string, programs: readonly Program[]): Promise<Children> {
  let children: Child[] = [];
  async function start(): Promise<void> {
    children = [];
    for (const { entry, name, settings, onMessage } of programs) {
      const logFile = join(directory, `${name}.log`);
      children.push(await startChild(entry, { settings, logFile, onMessage }));
    }
  }
  const close = async () => void (await Promise.all(children.map((child) => child.stop())));
  await start().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    all: () => children,
    async restart(signal) {
      await Promise.all(children.map((child) => (signal === 'SIGTERM' ? child.stop() : child.kill())));
      await start();
    },
    close,
  };
}
