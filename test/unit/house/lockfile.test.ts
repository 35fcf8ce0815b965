import { describe, expect, test } from 'vitest';
import { readSource } from './source-imports.js';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const { packages } = JSON.parse(readSource('package-lock.json')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};
/** The packages of this repository, and the link to one of them. */
const ownPackages = ['', 'local-service', 'node_modules/sandflow-local-service'];
const locked = Object.entries(packages).filter(([path]) => !ownPackages.includes(path));

describe('package-lock.json', () => {
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

test('docs/library.md names the packages with install scripts, as npm does: those of dependencies, and our own build', () => {
  const scripts = locked.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev);
  const names = ['sandflow', ...scripts.map(([path]) => path.replace(/^.*node_modules\//, ''))].toSorted();
  const [, count, list = ''] =
    /name the (\w+) packages that have\s+one: ([^.]+)\./.exec(readSource('docs/library.md')) ?? [];
  expect([...list.matchAll(/`([^`]+)`/g)].map(([, name]) => name).toSorted()).toEqual(names);
  expect(count).toBe(['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven'][names.length]);
});
