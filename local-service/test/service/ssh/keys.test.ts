import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { describe, expect, it, vi } from 'vitest';
import { loadHostKey } from '../../../src/ssh/host-key.js';
import { parsePublicKey } from '../../../src/ssh/public-key.js';
import { SshError } from '../../../src/ssh/ssh-error.js';
import { temporaryDirectory } from '../machine/machine-fixture.js';
import { ed25519Pair } from './ssh-fixture.js';

const made = ed25519Pair();
const [type = '', base64 = ''] = made.public.split(' ');

describe('a public key', () => {
  it('is read with its type and fingerprint, and stored without its comment', () => {
    const key = parsePublicKey(`  ${type} ${base64} my own key\n`);
    expect(key).toMatchObject({ type: 'ssh-ed25519', text: `${type} ${base64}` });
    expect(key.blob.toString('base64')).toBe(base64);
    expect(parsePublicKey(key.text)).toEqual(key);
  });

  it.each([
    ['ecdsa', 256, 'ecdsa-sha2-nistp256'],
    ['ecdsa', 384, 'ecdsa-sha2-nistp384'],
    ['ecdsa', 521, 'ecdsa-sha2-nistp521'],
    ['rsa', 2048, 'ssh-rsa'],
  ] as const)('may be %s of %i bits', (kind, bits, expected) => {
    expect(parsePublicKey(ssh2.utils.generateKeyPairSync(kind, { bits }).public).type).toBe(expected);
  });

  it.skipIf(!hasKeygen())('has the fingerprint that ssh-keygen shows', async () => {
    const file = join(await temporaryDirectory(), 'key.pub');
    await writeFile(file, made.public);
    const shown = execFileSync('ssh-keygen', ['-l', '-f', file], { encoding: 'utf8' });
    expect(shown).toContain(` ${parsePublicKey(made.public).fingerprint} `);
  });

  it.each([
    ['OpenSSH', made.private],
    ['PKCS#8', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['PuTTY', `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n${base64}`],
    ['a pair of files', `${made.public}\n${made.private}`],
  ])('is refused without being repeated if it is a private key (%s)', (_format, text) => {
    const error = refusalOf(text);
    expect(error).toMatchObject({ code: 'private_key', message: expect.stringContaining('private key') });
    expectUnrepeated(error, text);
  });

  it.each([
    ['nothing', ' '],
    ['words', 'my public key'],
    ['only the base64', base64],
    ['a key cut short', `${type} ${base64.slice(0, -8)}`],
    ['a key with something behind it', `${type} ${Buffer.from(`${base64}AAAA`, 'base64').toString('base64')}`],
    ['another type than the key has', `ssh-rsa ${base64}`],
    ['two keys', `${made.public}\n${made.public}`],
    ['options', `command="id" ${type} ${base64}`],
    ['PEM', generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ])('cannot be %s', (_what, text) => {
    const error = refusalOf(text);
    expect(error.code).toBe('not_a_public_key');
    expectUnrepeated(error, text);
  });

  it.each(['ssh-dss', 'sk-ssh-ed25519@openssh.com', 'ssh-ed25519-cert-v01@openssh.com'])(
    'cannot be of type %s',
    (other) => {
      expect(refusalOf(`${other} ${base64}`)).toMatchObject({ code: 'unsupported_key' });
    },
  );

  it('of RSA has at least 2048 bits', () => {
    const weak = ssh2.utils.generateKeyPairSync('rsa', { bits: 1024 }).public;
    expect(refusalOf(weak)).toMatchObject({ code: 'weak_key', message: expect.stringContaining('1024') });
  });
});

describe('the host key', () => {
  it('is created once, readable only by its owner, and stays the same', async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, 'ssh-host-key');
    const first = await loadHostKey(file);
    expect(first).toContain('PRIVATE KEY');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await chmod(file, 0o644);
    expect(await loadHostKey(file)).toBe(first);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['ssh-host-key']);
  });

  it('is created again if ssh2 creates one that it cannot read', async () => {
    const broken = { private: made.private.replace(/(?<=KEY-----\n).{40}/, ''), public: made.public };
    const generate = vi.spyOn(ssh2.utils, 'generateKeyPairSync').mockReturnValueOnce(broken);
    const kept = await loadHostKey(join(await temporaryDirectory(), 'ssh-host-key'));
    // Now and then ssh2 itself creates such a key, too.
    expect(generate.mock.calls.length).toBeGreaterThan(1);
    generate.mockRestore();
    expect(kept).not.toBe(broken.private);
    expect(ssh2.utils.parseKey(kept)).not.toBeInstanceOf(Error);
  });

  it('is not replaced if its file contains something else', async () => {
    const file = join(await temporaryDirectory(), 'ssh-host-key');
    await writeFile(file, made.public);
    await expect(loadHostKey(file)).rejects.toMatchObject({
      code: 'bad_host_key',
      message: expect.stringContaining(file),
    });
    expect(await readFile(file, 'utf8')).toBe(made.public);
  });
});

function refusalOf(text: string): SshError {
  try {
    parsePublicKey(text);
  } catch (error) {
    if (error instanceof SshError) return error;
    throw error;
  }
  throw new Error('It was taken for a public key.');
}

function expectUnrepeated(error: SshError, text: string): void {
  const told = `${error.message} ${error.stack} ${String(error.cause)}`;
  for (const word of text.split(/\s+/).filter((part) => part.length > 30)) expect(told).not.toContain(word);
}

function hasKeygen(): boolean {
  try {
    execFileSync('ssh-keygen', ['-?'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}
