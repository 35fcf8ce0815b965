/**
 * Downloads the archive of the Temporal CLI, and uses it only if it has the checksum that its publisher has published.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { anySignal } from '../os/any-signal.js';
import { archiveOf, type CliArchive, cliVersion } from './pinned-release.js';
import { type Making, runProgram } from './run-program.js';
import { whyDownloadFailed, withoutLogins } from './why-failed.js';

const downloadTimeoutMs = 8_000;

interface ArchiveOptions extends Making {
  /** How long to wait for more bytes, in ms. Default: 8000. */
  readonly giveUpAfterMs?: number;
  /** Default: the archive for this platform, if its checksum is known. */
  readonly archive?: CliArchive | undefined;
  /** The program that unpacks it. Default: `tar` on the PATH. */
  readonly tar?: string;
}

/** @throws Error which says in one line why there is no archive, or why it is refused. */
export async function downloadTemporalCli(options: ArchiveOptions): Promise<void> {
  const { directory, onProgress, signal, tar = 'tar' } = options;
  const archive = 'archive' in options ? options.archive : archiveOf(process.platform, process.arch);
  if (!archive) throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  const file = join(directory, 'temporal.tar.gz');
  onProgress(`downloading the Temporal server v${cliVersion}`);
  const sha256 = await save(archive.url, file, options);
  if (sha256 !== archive.sha256) {
    throw new Error(`REFUSED: ${archive.url} does not match the checksum of its publisher (SHA-256 ${sha256})`);
  }
  const end = await runProgram(tar, ['-xzf', file, '-C', directory, 'temporal'], { directory, signal });
  if (!end) throw new Error('the program tar, which unpacks it, is missing');
  if (end.exitCode !== 0)
    throw new Error(`tar could not unpack it: ${withoutLogins(end.stderr.trim().replace(/\s+/g, ' '))}`);
}

/** @returns the SHA-256 of the bytes that were received */
async function save(url: string, path: string, options: ArchiveOptions): Promise<string> {
  const { signal, giveUpAfterMs = downloadTimeoutMs } = options;
  const giveUp = new AbortController();
  const timeout = setTimeout(() => giveUp.abort(), giveUpAfterMs);
  const over = signal ? anySignal([signal, giveUp.signal]) : giveUp.signal;
  const file = await open(path, 'wx', 0o600);
  let dispatcher: EnvHttpProxyAgent | undefined;
  try {
    dispatcher = new EnvHttpProxyAgent();
    const answer = await fetch(url, { signal: over, dispatcher });
    if (!answer.ok || !answer.body) throw new Error(`${new URL(url).host} answers ${answer.status}`);
    const hash = createHash('sha256');
    for await (const chunk of answer.body) {
      timeout.refresh();
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    return hash.digest('hex');
  } catch (cause) {
    const silent = `no data came from ${new URL(url).host} for ${giveUpAfterMs / 1000} s; behind a proxy, set HTTPS_PROXY`;
    throw new Error(giveUp.signal.aborted ? silent : whyDownloadFailed(cause, url), { cause });
  } finally {
    clearTimeout(timeout);
    await file.close();
    await dispatcher?.destroy();
  }
}
