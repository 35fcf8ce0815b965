/** The time zone of this machine, from what TZ holds. Tier: unit. */
import { copyFileSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { zoneOfMachine } from '../../../src/os/zone-of-machine.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

const data = '/usr/share/zoneinfo/Europe/Vienna';
const withData = it.skipIf(!existsSync(data));

it.each([
  ['Europe/Vienna', 'Europe/Vienna'],
  [':Europe/Vienna', 'Europe/Vienna'],
  ['posix/Europe/Vienna', 'Europe/Vienna'],
  [':right/Europe/Vienna', 'Europe/Vienna'],
  ['UTC', 'UTC'],
  ['Etc/GMT+1', 'Etc/GMT+1'],
  ['EST5EDT', 'EST5EDT'],
])('%s is %s', (setting, name) => expect(zoneOfMachine(setting)).toBe(name));

it.each([
  'CEST',
  'CET-1CEST',
  'CET-1CEST,M3.5.0,M10.5.0/3',
  '<+03>-3',
  'europe/vienna',
  'Foo/Bar',
  ':/etc/passwd',
  '/no/such',
])('%s is no name that Temporal knows', (setting) => expect(zoneOfMachine(setting)).toBeUndefined());

withData('a file is the zone that it is a link to, and a copy has no name', async () => {
  const folder = await temporaryDirectory();
  symlinkSync(data, join(folder, 'link'));
  symlinkSync('link', join(folder, 'further'));
  copyFileSync(data, join(folder, 'copy'));
  for (const path of [data, `:${data}`, join(folder, 'link'), `:${join(folder, 'further')}`]) {
    expect(zoneOfMachine(path)).toBe('Europe/Vienna');
  }
  expect(zoneOfMachine(join(folder, 'copy'))).toBeUndefined();
});

it.skipIf(!existsSync('/etc/localtime'))('without TZ, the zone of the system counts', () => {
  expect(zoneOfMachine(undefined)).toBe(zoneOfMachine(':/etc/localtime'));
});
