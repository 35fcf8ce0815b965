import { describe, expect, test } from 'vitest';
import { readSource } from '../source-imports.js';

describe('Dockerfile', () => {
  const text = readSource('Dockerfile');

  test('uses one Node, of the long-term release that is supported until 2028', () => {
    const images = [...text.matchAll(/^FROM node:(\d+)\.\d+-bookworm-slim/gm)].map(([, version]) => version);
    expect(images).toEqual(['24', '24', '24']);
    expect(new Set(text.match(/^FROM node:\S+/gm)).size).toBe(1);
  });

  test('installs what isolates sandboxes in the image of the local service alone', () => {
    const installed = [...text.matchAll(/apt-get install .*--no-install-recommends (.*) \\/g)].map(
      ([, names]) => names,
    );
    expect(installed).toEqual(['bubblewrap ca-certificates iproute2 netbase slirp4netns', 'ca-certificates']);
    expect(text.match(/^FROM .* AS (?:sandflow|local-service)$/gm)?.at(-1)).toMatch(/AS sandflow$/);
  });

  test('has the programs on the path, and begins with them', () => {
    const program = JSON.parse(readSource('local-service/package.json')).bin['sandflow-local-service'];
    expect(text).toContain(`ln -s /app/${program} /usr/local/bin/sandflow-local-service`);
    expect(text).toContain('ENTRYPOINT ["sandflow-local-service"]');
    expect(text).toContain('ln -s /app/dist/src/cli/main.js /usr/local/bin/sandflow');
    expect(text).toContain('ENTRYPOINT ["sandflow"]');
  });

  test('starts where its user may write results', () => {
    expect([...text.matchAll(/^WORKDIR (\S+)$/gm)].at(-1)?.[1]).toBe('/home/node');
  });

  test('has the native part of Temporal for its own platform only', () => {
    expect(text).toMatch(/core-bridge\/releases .*! -name "\$\(uname -m\)-unknown-linux-gnu"/);
  });

  test('lets a worker give memory back as the unit of systemd, the stack and the bench do', () => {
    const files = [
      'Dockerfile',
      'deploy/systemd/sandflow-worker@.service',
      'src/supervisor/children.ts',
      'package.json',
    ];
    const given = files.map((file) => /MALLOC_TRIM_THRESHOLD_\W+(\d+)/.exec(readSource(file))?.[1]);
    expect(given).toEqual(files.map(() => '131072'));
  });

  test('does not run as root', () => {
    expect([...text.matchAll(/^USER (\w+)$/gm)].at(-1)?.[1]).toBe('node');
  });

  test('copies everything that the build compiles, and nothing that .dockerignore excludes', () => {
    const { include } = JSON.parse(readSource('tsconfig.build.json')) as { include: string[] };
    const copied = [...text.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
    expect(copied).toEqual(expect.arrayContaining([...include, 'local-service']));
    const kept = readSource('.dockerignore').split('\n');
    expect(copied.filter((source) => !kept.includes(`!${source.split('/', 1)[0]}`))).toEqual([]);
  });
});
