import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copySettings } from '../../../src/machine/isolation/settings-copy.js';

let directory: string;
let source: string;
let target: string;
const write = (name: string, text: string) => writeFile(join(source, name), text, { mode: 0o644 });
const copy = () => copySettings(target, source, ['ssl/private']);
const copied = (name: string) => readFileSync(join(target, name), 'utf8');
const namesOf = (folder: string) => readdirSync(folder).sort();

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-settings-'));
  source = join(directory, 'etc');
  target = join(directory, 'settings');
  mkdirSync(join(source, 'ssl/private'), { recursive: true });
  mkdirSync(join(source, 'ssl/certs'));
  await write('hosts', '127.0.0.1 localhost\n');
  await write('ssl/certs/one.pem', 'certificate');
  await write('ssl/private/key.pem', 'key');
  await write('shadow', 'secret');
  chmodSync(join(source, 'shadow'), 0o640);
  symlinkSync('hosts', join(source, 'link'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("the copy of the machine's settings", () => {
  it('holds links and what everybody may read, without folders that are left out', async () => {
    await copy();
    expect(namesOf(target)).toEqual(['hosts', 'link', 'ssl']);
    expect(namesOf(join(target, 'ssl'))).toEqual(['certs']);
    expect(copied('ssl/certs/one.pem')).toBe('certificate');
    expect(lstatSync(join(target, 'link')).isSymbolicLink()).toBe(true);
  });

  it('is kept at the next start if nothing has changed', async () => {
    await copy();
    const before = lstatSync(join(target, 'hosts')).ino;
    await copy();
    expect(lstatSync(join(target, 'hosts')).ino).toBe(before);
  });

  it('is made again after a change that keeps the size and the time of a file', async () => {
    await copy();
    const { atime, mtime } = lstatSync(join(source, 'ssl/certs/one.pem'));
    await write('ssl/certs/one.pem', 'CERTIFICATE');
    utimesSync(join(source, 'ssl/certs/one.pem'), atime, mtime);
    await copy();
    expect(copied('ssl/certs/one.pem')).toBe('CERTIFICATE');
  });

  it('no longer holds a file that others may no longer read', async () => {
    await copy();
    chmodSync(join(source, 'hosts'), 0o600);
    await copy();
    expect(namesOf(target)).toEqual(['link', 'ssl']);
  });

  it('is made again after a start that did not complete it', async () => {
    await copy();
    rmSync(join(target, 'hosts'));
    rmSync(`${target}.state`);
    await copy();
    expect(copied('hosts')).toContain('localhost');
  });
});
