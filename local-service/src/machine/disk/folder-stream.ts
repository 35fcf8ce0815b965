/** Sends a folder as a gzipped tar, which the system's `tar` creates. */
import type { ChildProcess } from 'node:child_process';
import { pipeline, type Readable, Transform } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { startProgram, systemReason } from '../../../../src/os/start-program.js';
import { MachineError } from '../machine-error.js';
import { programEnvironment } from '../program.js';
import { folderLocation, type OpenFolder } from './folder.js';

const maxMessageCharacters = 64 * 1024;
/** Warnings about files that a sandbox changes while they are read. The archive is complete nevertheless. */
const changedPattern =
  /: (?:file changed as we read it|file removed before we read it|file shrank by \d+ bytes?; padding with zeros|socket ignored)$/i;

interface FolderStreamOptions {
  /** The path of `tar`. Default: `tar` from the folders of the system. */
  readonly tar?: string;
  /** Called at the end if `tar` reported changed files. If it resolves to true, the archive is accepted. */
  readonly mayHaveChanged: () => Promise<boolean>;
}

/**
 * `tar` starts in the opened folder itself and does not follow links, so no link of the sandbox can lead it elsewhere.
 * It ends when the stream ends. The caller may close the folder once this function has returned.
 * @throws MachineError `download_failed` if `tar` cannot be started
 */
export async function streamFolder(folder: OpenFolder, options: FolderStreamOptions): Promise<Readable> {
  const { tar = 'tar', mayHaveChanged } = options;
  // User names of this machine mean nothing on another machine, so only the numbers of users and groups are written.
  const child = startProgram(tar, ['-c', '-f', '-', '--numeric-owner', '--', '.'], {
    cwd: folderLocation(folder),
    env: programEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ending = watchEnd(child);
  await started(child);
  const gate = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    // Hold the end back until `tar` has succeeded. Otherwise a truncated archive would look complete.
    flush(done) {
      ending
        .then(({ exitCode, lines }) => checkEnd(exitCode, lines, mayHaveChanged))
        .then(
          () => done(),
          (error: Error) => done(error),
        );
    },
  });
  // Use the fastest compression: most downloads only go to another program on this machine.
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 });
  pipeline(child.stdout, gate, gzip, (error) => {
    if (error) child.kill('SIGKILL');
  });
  return gzip;
}

async function started(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      reject(new MachineError('download_failed', `The folder cannot be sent: ${systemReason(cause)}.`, { cause }));
    });
  });
  child.on('error', () => undefined);
}

interface Ending {
  readonly exitCode: number | null;
  readonly lines: readonly string[];
}

function watchEnd(child: ChildProcess): Promise<Ending> {
  let messages = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (messages.length < maxMessageCharacters) messages += text;
  });
  return new Promise((resolve) => {
    child.once('close', (exitCode) => {
      const lines = messages.split('\n');
      // If the messages reached the limit, the last line may be incomplete.
      if (messages.length >= maxMessageCharacters) lines.pop();
      resolve({ exitCode, lines: lines.filter((line) => line !== '') });
    });
  });
}

async function checkEnd(
  exitCode: number | null,
  lines: readonly string[],
  mayHaveChanged: () => Promise<boolean>,
): Promise<void> {
  if (exitCode === 0) return;
  const onlyChanges = exitCode === 1 && lines.length > 0 && lines.every((line) => changedPattern.test(line));
  if (onlyChanges && (await mayHaveChanged())) return;
  const reason = lines.find((line) => !changedPattern.test(line)) ?? lines.at(-1) ?? 'tar was killed';
  throw new MachineError('download_failed', `Not all of the folder could be read: ${reason}`);
}
