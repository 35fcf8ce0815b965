import { describe, expect, test } from 'vitest';
import { readSource } from './source-imports.js';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}

const { packages } = JSON.parse(readSource('package-lock.json')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};
const locked = Object.entries(packages).filter(([path]) => path !== '');

describe('C13: package-lock.json', () => {
  test('has a checksum for every package, including those of other platforms', () => {
    expect(locked.length).toBeGreaterThan(300);
    expect(locked.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-')).map(([path]) => path)).toEqual(
      [],
    );
  });

  test('has packages of the configured registry, and no other address than the public one', () => {
    const elsewhere = ({ resolved, link }: LockedPackage) =>
      link || (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'));
    expect(locked.filter(([, entry]) => elsewhere(entry)).map(([path]) => path)).toEqual([]);
  });
});
