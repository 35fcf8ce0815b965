import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { otherKey, otherName, otherPath, otherVocabulary } from '../../../src/core/legacy-vocabulary.js';

/** Words for keys and names, so that both vocabularies occur. */
const word = fc.constantFrom(
  'sandbox',
  'box',
  'Sandbox',
  'Box',
  'es',
  'Id',
  'pass',
  'full-',
  'api_key_',
  '_forbidden',
  '.',
);
const words = fc.array(fc.oneof(word, fc.string({ maxLength: 3 })), { maxLength: 5 }).map((parts) => parts.join(''));
const key = fc.oneof(
  words,
  fc.constantFrom(
    'type',
    'code',
    'events',
    'actions',
    'preset',
    'presets',
    'env',
    'data',
    'apiKey',
    'sandboxId',
    'boxId',
  ),
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    words,
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 5 }),
  ),
}));

describe('a round trip', () => {
  test('keeps JSON', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(otherVocabulary(otherVocabulary(value))).toEqual(value);
      }),
    );
  });

  test('keeps keys, names and paths', () => {
    const path = fc
      .array(fc.oneof(fc.constantFrom('sandboxes', 'boxes', 'snapshots', '{sandboxId}'), fc.string({ maxLength: 4 })))
      .map((parts) => `/${parts.join('/')}`);
    fc.assert(fc.property(words, (text) => otherKey(otherKey(text)) === text));
    fc.assert(fc.property(words, (text) => otherName(otherName(text)) === text));
    fc.assert(fc.property(path, (text) => otherPath(otherPath(text)) === text));
  });
});

test.each([
  ['sandbox', 'box'],
  ['sandboxes', 'boxes'],
  ['sandboxId', 'boxId'],
  ['sourceSandboxId', 'sourceBoxId'],
  ['passSandboxCredentials', 'passBoxCredentials'],
  ['dailySandboxes', 'dailyBoxes'],
])('the key %s was %s', (current, legacy) => {
  expect(otherKey(current)).toBe(legacy);
  expect(otherKey(legacy)).toBe(current);
});

test.each(['inbox', 'boxing', 'sandboxing', 'mailboxId', 'xlarge'])('the key %s is the same in both', (same) => {
  expect(otherKey(same)).toBe(same);
});

test.each([
  ['sandbox.created', 'box.created'],
  ['sandbox.ready', 'box.ready'],
  ['sandbox.create', 'box.create'],
  ['full-sandbox', 'full-box'],
  ['sandbox_not_promptable', 'box_not_promptable'],
  ['api_key_sandbox_forbidden', 'api_key_box_forbidden'],
])('the name %s was %s', (current, legacy) => {
  expect(otherName(current)).toBe(legacy);
  expect(otherName(legacy)).toBe(current);
});

test('texts of people and agents are not translated', () => {
  const written = {
    name: 'sandbox.ready',
    prompt: 'sandbox',
    env: { sandboxId: 'sandbox.ready' },
    set: { sandbox: 'x' },
    data: { sandbox: { type: 'sandbox.ready' } },
  };
  expect(otherVocabulary(written)).toEqual(written);
});

test('the field sandboxId of API keys keeps its name, and the scope is translated', () => {
  const current = {
    apiKeys: [{ id: 'sak_1', sandboxId: 'bx_1', scope: { actions: ['sandbox.read'], sandboxes: ['bx_1'] } }],
    catalog: { presets: { 'full-sandbox': ['sandbox.stop', 'exec'] } },
  };
  const legacy = {
    apiKeys: [{ id: 'sak_1', sandboxId: 'bx_1', scope: { actions: ['box.read'], boxes: ['bx_1'] } }],
    catalog: { presets: { 'full-box': ['box.stop', 'exec'] } },
  };
  expect(otherVocabulary(current)).toEqual(legacy);
  expect(otherVocabulary(legacy)).toEqual(current);
});
