import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { beforeEach, describe, expect, it } from 'vitest';
import { cli } from './in-process.js';
import { temporaryDirectory } from './temporary-directory.js';

const isRoot = process.getuid?.() === 0;
const stranger = 12_345;
/** No command gets as far as a call. */
const configured = {
  SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
  SANDBOX_API_KEY: 'key',
  TEMPORAL_ADDRESS: '127.0.0.1:9',
  SANDFLOW_PATIENCE_SECONDS: '1',
};

let around: string;
let home: string;
beforeEach(async () => {
  around = await temporaryDirectory();
  home = join(around, 'home');
  mkdirSync(home, { mode: 0o755 });
});

/** Only root can give a home to somebody else; for others, a home that others may write is the same. */
function giveAway(): void {
  if (isRoot) chownSync(home, stranger, stranger);
  else chmodSync(home, 0o777);
}

describe('a home that belongs to somebody else', () => {
  it.each([
    ['status', {}],
    ['up', {}],
    ['down', {}],
    ['down --force', {}],
    ['doctor', configured],
    ['jobs list', configured],
    ['jobs logs a', configured],
    ['jobs rerun a', configured],
    ['sandboxes', configured],
    ['webhooks list', configured],
    ['webhooks connect --url https://bridge.example.com/webhooks/sandbox', configured],
    ['webhooks connect --no-test --url https://bridge.example.com/webhooks/sandbox', configured],
    ['webhooks rotate wh_0123456789abcdef01234567', configured],
    ['local clock', {}],
    ['local reset --yes', {}],
    ['local --port 0', {}],
    ['supervisor', {}],
    ['up --foreground', {}],
  ])('is refused by `sandflow %s`, before anything in it is read or changed', async (command, env) => {
    giveAway();
    const { exitCode, stderr } = await cli([...command.split(' ')], { env: { ...env, SANDFLOW_HOME: home } });
    expect(stderr).toContain('is not trusted');
    expect(exitCode).toBe(2);
    expect(readdirSync(home)).toEqual([]);
  });

  it('deletes no file of the user through the journal of a planted database', async () => {
    const precious = join(around, 'precious.txt');
    writeFileSync(precious, 'precious');
    plantJournal(join(home, 'supervisor.lock'), precious);
    giveAway();
    expect((await cli(['down'], { env: { SANDFLOW_HOME: home } })).exitCode).toBe(2);
    expect(readFileSync(precious, 'utf8')).toBe('precious');
  });

  it('deletes no file of the user through a planted link', async () => {
    const own = join(around, 'own');
    mkdirSync(own);
    for (const name of ['notes.txt', '1.json']) writeFileSync(join(own, name), 'precious');
    symlinkSync(own, join(home, 'local-services'));
    giveAway();
    expect((await cli(['local', 'reset', '--yes'], { env: { SANDFLOW_HOME: home } })).exitCode).toBe(2);
    expect(readdirSync(own).sort()).toEqual(['1.json', 'notes.txt']);
  });
});

/**
 * Leaves a database as if a transaction of several databases had been cut off. Whoever opens it rolls it back, and then
 * removes the file that the journal names as the one of all these databases.
 */
function plantJournal(path: string, named: string): void {
  const database = new Database(path);
  database.exec('PRAGMA journal_mode = DELETE; CREATE TABLE planted (x)');
  database.close();
  const content = readFileSync(path);
  const size = 4_096;
  const page = content.subarray(0, size);
  const nonce = 1;
  let checksum = nonce;
  for (let at = size - 200; at > 0; at -= 200) checksum += page[at] ?? 0;
  const header = Buffer.alloc(512);
  Buffer.from('d9d505f920a163d7', 'hex').copy(header);
  for (const [index, value] of [1, nonce, content.length / size, header.length, size].entries()) {
    header.writeUInt32BE(value, 8 + 4 * index);
  }
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const name = Buffer.from(named);
  const sum = name.reduce((all, byte) => all + byte, 0);
  const end = [number(0x4000_0000 / size + 1), name, number(name.length), number(sum), header.subarray(0, 8)];
  writeFileSync(`${path}-journal`, Buffer.concat([header, number(1), page, number(checksum), ...end]));
}
