import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findChromium } from '../../../../scripts/find-chromium.mjs';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { embeddedBooks, patient } from '../../../e2e/stack/fixture.js';
import { type Attempt, createHostilePages, type HostilePages } from './hostile-page.js';
import { type ListeningPort, listeningPorts } from './listening-ports.js';

const browserPath = findChromium();
const canary = 'canary-of-a-job';

/** Needs a browser, and Linux, where the kernel reports listeners. */
describe.skipIf(process.platform !== 'linux' || !browserPath)('a web page beside a running stack', () => {
  let cli: CliHome;
  let client: Client;
  let pages: HostilePages;
  let ports: ListeningPort[];

  beforeAll(async () => {
    cli = createCliHome();
    const stack = cli.start(['up', '--foreground', '--ready-json']);
    await vi.waitFor(() => expect(stack.stdout(), stack.stderr()).toMatch(/\n$/), patient);
    const { temporalAddress } = JSON.parse(stack.stdout()) as { temporalAddress: string };
    client = await connectTemporal({ address: temporalAddress });
    await client.workflow.start('untaken', { taskQueue: 'nobody', workflowId: canary, args: [canary] });
    await vi.waitFor(async () => expect((await client.workflow.count()).count).toBe(1), patient);
    ports = listeningPorts(cli.alive());
    pages = await createHostilePages(browserPath ?? '');
  });
  afterAll(async () => {
    await pages?.close();
    await client?.connection.close();
    await cli?.close();
  });

  /** States that must not result, whatever the page has tried. */
  async function expectNothingDone(attempts: readonly Attempt[]): Promise<void> {
    for (const { workflowId } of attempts) {
      for (const id of [workflowId, `${workflowId}-form`]) {
        const started = await client.workflow
          .getHandle(id)
          .describe()
          .then(
            () => `${id} was started`,
            () => 'nothing was started',
          );
        expect(started).toBe('nothing was started');
      }
    }
    expect(attempts.filter(({ read }) => read.includes(canary)).map(({ port }) => port)).toEqual([]);
    expect(attempts.filter(({ webSocket }) => webSocket)).toEqual([]);
    expect((await embeddedBooks(cli))?.sandboxes).toEqual([]);
  }

  it('finds every part of the stack on loopback only', () => {
    const known = JSON.parse(readFileSync(join(cli.home, 'ports.json'), 'utf8')) as Record<string, number>;
    const open = ports.map(({ port }) => port);
    for (const name of ['temporal', 'temporalUi', 'localService', 'bridge']) expect(open).toContain(known[name]);
    expect(ports.filter(({ host }) => !host.startsWith('127.'))).toEqual([]);
  });

  it('of another origin starts, runs, reads and writes nothing on any port', async () => {
    await expectNothingDone(await Promise.all(ports.map(({ port }) => pages.fromAnotherOrigin(port))));
  });

  it('with a name that resolves to this machine starts and reads nothing either', async () => {
    await expectNothingDone(await Promise.all(ports.map(({ port }) => pages.byRebinding(port))));
  });
});
