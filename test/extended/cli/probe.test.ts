/**
 * `doctor --probe` with each planted difference alone, and with an end at each of its calls. In all; costs some 250 CPU s.
 */
import { describe, expect, it } from 'vitest';
import { probes } from '../../../src/cli/doctor/probe/probes.js';
import { differences } from '../../unit/cli/doctor/planted-differences.js';
import { idsOf, livingIn, probed, proxyOf, quick, startService } from '../../unit/cli/doctor/probe-stand.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';

const notTriedAtAll = ['A-webhook-record', 'delivery'];

describe('doctor --probe finds one difference, and invents none', () => {
  it.each(Object.entries(differences))('%s', async (_, { refutes, says, hides = [], plant }) => {
    const service = await startService();
    const planted = plant();
    const { findings, left } = await probed((await proxyOf(service, () => planted)).url);
    expect(idsOf(findings, 'refuted')).toEqual(refutes);
    expect(findings.find(({ verdict }) => verdict === 'refuted')?.why).toContain(says);
    const tried = findings.filter(({ id }) => id in probes);
    expect(idsOf(tried, 'not tried').toSorted()).toEqual([...notTriedAtAll, ...hides].toSorted());
    expect({ left, living: livingIn(service) }).toEqual({ left: [], living: [] });
  });
});

describe('a second run leaves nothing', () => {
  it.each(['lost', 'never sent'])('after an end at each call, whose answer is %s', async (how) => {
    const service = await startService();
    for (let last = 2, wasReached = true; wasReached; last += 1) {
      let [calls, isOpen] = [0, false];
      const stand = await proxyOf(service, () => ({
        request: () => {
          if (!isOpen) calls += 1;
          return isOpen || calls < last || (calls === last && how === 'lost') ? {} : undefined;
        },
        answer: () => (isOpen || calls < last ? undefined : 'close'),
      }));
      const home = await temporaryDirectory();
      await probed(stand.url, { home, within: { ...quick, cleanUpMs: 20 } });
      wasReached = calls >= last;
      isOpen = true;
      const { left } = await probed(stand.url, { home, within: { ...quick, probesMs: 1 } });
      expect({ last, left, living: livingIn(service) }).toEqual({ last, left: [], living: [] });
    }
  });
});
