import { expect, it } from 'vitest';
import { sandboxView, sharingView, stopView } from '../../../activities/sandbox-view.js';
import { degradedOf } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { payloadBytes } from '../../../src/texts/length.js';

const sandbox = { id: 'bx_22222222', name: 'one', state: 'running' };

it('client rows: the view of a sandbox has what a workflow decides on, and no URL', () => {
  const known = {
    health: 'degraded',
    healthReason: 'a firewall rule',
    degradedSince: '2026-01-01T00:00:00.000Z',
    archiveAfter: '2026-01-01T01:00:00.000Z',
    environment: 'web',
    environmentVersion: 3,
    visibility: 'shared',
    sshEndpoint: '192.0.2.1:2200',
  };
  const more = {
    hydration: { phase: 'images', entriesDone: 1, entriesTotal: 2, percent: 50 },
    cost: { since: '2026-01-01T00:00:00.000Z', seconds: 3_600, dollars: 0.5 },
    desktopUrl: 'https://example.com/?token=secret',
    url: 'https://example.com',
  };
  const view = sandboxView({ ...sandbox, ...known, ...more });
  expect(view).toMatchObject({
    ...known,
    hydration: { phase: 'images', entriesDone: 1, entriesTotal: 2, percent: 50 },
    cost: { seconds: 3_600, dollars: 0.5 },
  });
  expect(JSON.stringify(view)).not.toContain('example.com');
  expect(degradedOf(view)).toEqual({
    sandboxId: sandbox.id,
    reason: 'a firewall rule',
    since: '2026-01-01T00:00:00.000Z',
  });
  expect(degradedOf(sandboxView({ ...sandbox, health: 'ok' }))).toBeNull();
});

it('a share says that it takes effect at the next start, and whose sandbox it is', () => {
  const team = { id: 'team_1', name: 'Blue', plan: 'x' };
  const creator = { createdBy: 'Ada', createdById: 'acct_1' };
  const shared = { ...sandbox, ...creator, team, wipePendingUntilRestart: true, holdsCreatorLogins: true };
  expect(sharingView({ sandbox: shared, message: 'Restart it' })).toMatchObject({
    ...creator,
    message: 'Restart it',
    wipePendingUntilRestart: true,
    holdsCreatorLogins: true,
    team: { id: 'team_1', name: 'Blue' },
  });
  const personal = { ...sandbox, ...creator, team: null, wipePendingUntilRestart: false, holdsCreatorLogins: false };
  expect(sandboxView(personal)).toEqual(sandboxView(sandbox));
});

it('a stop says when it ended, and a sandbox when it was restored and last saved', () => {
  const stop = { id: 'stop_1', status: 'completed', requestedAt: null, lastAttemptAt: null, error: null };
  const endedAt = '2026-01-01T00:00:00.000Z';
  expect(stopView({ ...stop, endedAt })).toEqual({ ...stop, endedAt });
  expect(stopView({ ...stop, status: 'pending', endedAt: null })).not.toHaveProperty('endedAt');
  const times = { hydratedAt: endedAt, lastSnapshotAttemptAt: endedAt };
  expect(sandboxView({ ...sandbox, ...times })).toMatchObject(times);
});

it('client rows: the view of a sandbox is bounded, and takes no room for what the service did not return', () => {
  const long = 'x'.repeat(100_000);
  const fields = {
    name: long,
    error: long,
    setupError: long,
    healthReason: long,
    environment: long,
    sshEndpoint: long,
  };
  const hydration = { phase: long, entriesDone: 1, entriesTotal: 2, percent: 50 };
  expect(payloadBytes(sandboxView({ ...sandbox, ...fields, hydration }))).toBeLessThan(9_000);
  expect(Object.keys(sandboxView({ ...sandbox, healthReason: null, hydration: null, archiveAfter: null }))).toEqual(
    Object.keys(sandboxView(sandbox)),
  );
});
