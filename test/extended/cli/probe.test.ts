/**
 * `doctor --probe` with each deviation of the local service alone, and with an end at each of its calls. In all; costs some 250 CPU s.
 */
import { describe, expect, it } from 'vitest';
import { deviationNames } from '../../../local-service/src/deviations/deviations.js';
import { probes } from '../../../src/cli/doctor/probe/probes.js';
import { idsOf, livingIn, probed, proxyOf, quick, startService } from '../../unit/cli/doctor/probe-stand.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';

/** What a client bears without a word, what a proxy may have answered, or what is a later form of something else. */
const borne =
  /^A-(prompt-record\.html|prompt-states\.late|prompt-id\.numbers|events\.(epoch|cursor|has-more)|api-key-row|webhook-record)$/;
const tried = deviationNames.filter((name) => (name.split('.')[0] ?? '') in probes && !borne.test(name));

describe('doctor --probe finds one difference, and invents none', () => {
  it.each(tried)('%s', async (name) => {
    const service = await startService([name]);
    const within = { ...quick, lagMs: 2_000 };
    const { findings, left, records } = await probed(service.url, { within });
    const id = name.split('.')[0];
    expect(idsOf(findings, 'refuted')).toEqual([id]);
    expect([id, name]).toContain(JSON.parse(records[0]?.text ?? '').deviations[0]);
    expect({ left, living: livingIn(service) }).toEqual({ left: [], living: [] });
  });

  it.each(deviationNames.filter((name) => borne.test(name)))('nor with what jobs bear: %s', async (name) => {
    const { findings } = await probed((await startService([name])).url);
    expect(idsOf(findings, 'refuted')).toEqual([]);
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
      await probed(stand.url, { home, env: { SANDFLOW_PATIENCE_SECONDS: '1' }, within: { ...quick, cleanUpMs: 20 } });
      wasReached = calls >= last;
      isOpen = true;
      const { left } = await probed(stand.url, { home, within: { ...quick, probesMs: 1 } });
      expect({ last, left, living: livingIn(service) }).toEqual({ last, left: [], living: [] });
    }
  });
});
