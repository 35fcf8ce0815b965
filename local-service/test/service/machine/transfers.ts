/** Reads downloads of a machine host, and unpacks archives. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { temporaryDirectory } from './machine-fixture.js';

export async function bytesOf(stream: Readable): Promise<Buffer> {
  return await buffer(stream);
}

/** The folder that a gzipped tar was unpacked into. */
export async function unpack(stream: Readable): Promise<string> {
  const folder = await temporaryDirectory();
  const tar = spawn('tar', ['-xzf', '-', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => tar.once('close', resolve));
  await pipeline(stream, tar.stdin);
  const exitCode = await ended;
  if (exitCode !== 0) throw new Error(`tar ended with ${exitCode}`);
  return folder;
}
