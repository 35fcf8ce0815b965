/**
 * Downloads the release of the Temporal CLI, and uses it only if it has the checksum that its publisher has published.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { anySignal } from '../os/any-signal.js';

const downloadTimeoutMs = 8_000;

/** SHA-256 of the archives, from `checksums.txt` of the release, to verify the download. */
const published: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'v1.5.1': {
    linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
    linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
    darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
    darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
  },
};

interface CliArchive {
  readonly url: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

interface CliDownloadOptions {
  /** Such as `v1.5.1`. */
  readonly version: string;
  /** An empty directory; the binary is put there as `temporal`. */
  readonly directory: string;
  readonly onProgress: (line: string) => void;
  /** Ends the download. */
  readonly signal?: AbortSignal;
  /** How long to wait for more bytes, in ms. Default: 8000. */
  readonly giveUpAfterMs?: number;
  /** Default: the archive for this platform, if its checksum is known. */
  readonly archive?: CliArchive;
}

/**
 * @returns true if `directory` holds the binary; false if the download failed or has another checksum than the
 *   published one. The archive is removed in any case.
 */
export async function downloadTemporalCli(options: CliDownloadOptions): Promise<boolean> {
  const { version, directory, onProgress, archive = archiveOf(version, process.platform, process.arch) } = options;
  if (!archive) return false;
  const file = join(directory, 'temporal.tar.gz');
  onProgress(`downloading the Temporal server ${version}`);
  try {
    const sha256 = await save(archive.url, file, options);
    if (sha256 !== archive.sha256) {
      onProgress(`${archive.url} does not match the checksum of its publisher (SHA-256 ${sha256}), so it is not used`);
      return false;
    }
    await promisify(execFile)('tar', ['-xzf', file, '-C', directory, 'temporal']);
    return true;
  } catch {
    onProgress('the Temporal server could not be downloaded');
    return false;
  } finally {
    await rm(file, { force: true });
  }
}

/** The release for a platform, which is named as in Node. Undefined if the checksum of the release is not known. */
export function archiveOf(version: string, platform: string, arch: string): CliArchive | undefined {
  const name = `${platform}_${arch === 'x64' ? 'amd64' : arch}`;
  const sha256 = published[version]?.[name];
  if (sha256 === undefined) return undefined;
  const file = `temporal_cli_${version.slice(1)}_${name}.tar.gz`;
  return { url: `https://github.com/temporalio/cli/releases/download/${version}/${file}`, sha256 };
}

/** @returns the SHA-256 of the bytes that were received */
async function save(url: string, path: string, options: CliDownloadOptions): Promise<string> {
  const { signal, giveUpAfterMs = downloadTimeoutMs } = options;
  const giveUp = new AbortController();
  const timeout = setTimeout(() => giveUp.abort(), giveUpAfterMs);
  const over = signal ? anySignal([signal, giveUp.signal]) : giveUp.signal;
  const dispatcher = new EnvHttpProxyAgent();
  const file = await open(path, 'wx', 0o600);
  try {
    const answer = await fetch(url, { signal: over, dispatcher });
    if (!answer.ok || !answer.body) throw new Error(`${url} answered with status ${answer.status}`);
    const hash = createHash('sha256');
    for await (const chunk of answer.body) {
      timeout.refresh();
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    return hash.digest('hex');
  } finally {
    clearTimeout(timeout);
    await file.close();
    await dispatcher.destroy();
  }
}
