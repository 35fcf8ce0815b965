import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { jUnitOf, lacksPatch, predictionOf } from '../../../../src/cli/fanout/results/result-formats.js';
import type { ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';

type Outcome = ItemResult['outcome'];

function item(itemId: string, outcome: Outcome, { message = null as string | null, ref = null as string | null } = {}) {
  const job =
    outcome === 'not_started'
      ? null
      : {
          durationMs: 1_500,
          error: message === null ? null : { message },
          prompts: [],
          files: ref === null ? [] : [{ path: 'changes.patch', ref }],
        };
  return { batchId: 'night & day', itemId, outcome, labels: { model: 'm-1' }, job } as unknown as ItemResult;
}

const read = async (ref: string) => Buffer.from(`patch of ${ref} ü\n`);

describe('predictions', () => {
  it('have the id, the model and the patch, which is empty if there is none', async () => {
    expect(JSON.parse(await predictionOf(item('a__b-1', 'completed', { ref: 'r' }), read, undefined))).toEqual({
      instance_id: 'a__b-1',
      model_name_or_path: 'm-1',
      model_patch: 'patch of r ü\n',
    });
    expect(JSON.parse(await predictionOf(item('c', 'not_started'), read, 'mine'))).toEqual({
      instance_id: 'c',
      model_name_or_path: 'mine',
      model_patch: '',
    });
    expect(JSON.parse(await predictionOf({ ...item('c', 'completed'), labels: {} }, read, undefined))).toMatchObject({
      model_name_or_path: 'sandflow',
    });
  });
});

it.each([
  ['a completed item without a patch', item('a', 'completed'), true],
  ['an item that this version cannot read', { ...item('a', 'outcome_unknown'), job: null, unreadable: 'no' }, true],
  ['a completed item with a patch', item('a', 'completed', { ref: 'r' }), false],
  ['a failed item', item('a', 'prompt_failed'), false],
  ['an item that never started', item('a', 'not_started'), false],
])('says that %s needs a warning, or not', (_, one, lacks) => {
  expect(lacksPatch(one)).toBe(lacks);
});

/** The items can be read once only: the next time they may differ. */
async function jUnit(items: readonly ItemResult[]): Promise<string> {
  const once = (async function* () {
    yield* items;
  })();
  let xml = '';
  for await (const text of jUnitOf('night & day', once)) xml += text;
  return xml;
}

describe('JUnit XML', () => {
  it.each([
    ['deadline_exceeded', 'agent', 'failure'],
    ['unverified', 'check', 'failure'],
    ['unverified', undefined, 'failure'],
    ['prompt_failed', 'provider', 'error'],
    ['prompt_failed', null, 'failure'],
    ['sandbox_failed', undefined, 'error'],
  ] as const)('has %s of the class %s as %s', async (outcome, failureClass, kind) => {
    const one = { ...item('a', outcome), ...(failureClass !== undefined && { failureClass }) };
    expect(await jUnit([one as ItemResult])).toContain(`<${kind} `);
  });

  it('tells failures of the agent from errors, with counts and durations, and a parser reads it', async () => {
    const hostile = '</failure><evil a="1">\u0000\u001b[31m \ud800 &amp; \'"';
    const items = [
      item('ok', 'completed'),
      item('no "quotes" <x>', 'prompt_failed', { message: hostile }),
      item('lost', 'sandbox_failed', { message: 'no machine' }),
      item('late', 'deadline_exceeded'),
      item('never', 'not_started'),
    ];
    const xml = await jUnit(items);
    const parse = `
import json, sys, xml.etree.ElementTree as tree
suite = tree.fromstring(sys.stdin.buffer.read()).find('testsuite')
print(json.dumps([suite.attrib, [[case.attrib, [[c.tag, c.attrib, c.text] for c in case]] for case in suite]]))`;
    const [suite, cases] = JSON.parse(execFileSync('python3', ['-c', parse], { input: xml, encoding: 'utf8' }));
    expect(suite).toEqual({
      name: 'night & day',
      tests: '5',
      failures: '1',
      errors: '2',
      skipped: '1',
      time: '6.000',
    });
    const text = ['\u0000', '\u001b', '\ud800'].reduce((left, bad) => left.replaceAll(bad, '\ufffd'), hostile);
    const shape = cases.map(([{ name, time }, inner]: [Record<string, string>, unknown[][]]) => [
      name,
      time,
      ...inner.map(([tag, , said]) => [tag, said]),
    ]);
    expect(shape).toEqual([
      ['ok', '1.500'],
      ['no "quotes" <x>', '1.500', ['failure', text]],
      ['lost', '1.500', ['error', 'no machine']],
      ['late', '1.500', ['error', 'deadline_exceeded']],
      ['never', '0.000', ['skipped', null]],
    ]);
  });
});
