import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import {
  type DefaultFailureConverter,
  defaultPayloadConverter,
  type Payload,
  type SerializationContext,
} from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPayloadCodec, failureConverterPath, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { earlyQueryText } from '../../../src/protocol/early-query.js';
import { isRefusedInput } from '../../../src/protocol/refused-input.js';

const old = newKeyLine('old');
const current = newKeyLine('new');
const before = parseKeyRing(old);
const rotated = parseKeyRing(`${current}\n${old}`);
const codec = createPayloadCodec(rotated);
const bytes = fc.uint8Array({ maxLength: 300 });
const payload = fc.record({
  metadata: fc.dictionary(
    fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
    bytes,
  ),
  data: bytes,
});

describe('encryption of payloads', () => {
  test('restores every payload with its metadata, and leaves none of it readable', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(payload), async (payloads) => {
        const sealed = await codec.encode(payloads);
        expect(sealed).toHaveLength(payloads.length);
        const opened = await codec.decode(sealed);
        expect(opened.map(plainOf)).toEqual(payloads.map(plainOf));
        for (const { metadata } of sealed) {
          expect(Object.keys(metadata ?? {}).sort()).toEqual(['encoding', 'encryption-key-id']);
        }
      }),
    );
  });

  test('restores any value of the default converter, including undefined', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), fc.constant(undefined), bytes), async (value) => {
        const payload = defaultPayloadConverter.toPayload(value);
        const [sealed] = await codec.encode([payload]);
        const [opened] = await codec.decode(sealed ? [sealed] : []);
        // JSON has no -0: the converter restores 0, encrypted or not.
        expect(opened && defaultPayloadConverter.fromPayload(opened)).toEqual(
          defaultPayloadConverter.fromPayload(payload),
        );
      }),
    );
  });

  test('never encrypts one payload to the same bytes twice', async () => {
    const same = defaultPayloadConverter.toPayload('same');
    const [a, b] = await codec.encode([same, same]);
    expect(Buffer.from(a?.data ?? [])).not.toEqual(Buffer.from(b?.data ?? []));
  });

  test('keeps an empty list of payloads empty', async () => {
    expect(await codec.encode([])).toEqual([]);
    expect(await codec.decode([])).toEqual([]);
  });

  test('refuses a payload with one changed bit, or a truncated one', async () => {
    const [sealed] = await codec.encode([defaultPayloadConverter.toPayload({ secret: 'text' })]);
    const data = Buffer.from(sealed?.data ?? []);
    await fc.assert(
      fc.asyncProperty(fc.nat(data.length * 8 - 1), async (bit) => {
        const changed = Buffer.from(data);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        await expect(codec.decode([{ ...sealed, data: changed }])).rejects.toMatchObject({ code: 'not_decryptable' });
      }),
    );
    for (let length = 0; length < data.length; length += 1) {
      const cut = codec.decode([{ ...sealed, data: data.subarray(0, length) }]);
      await expect(cut, `${length} bytes`).rejects.toMatchObject({ code: 'not_decryptable' });
    }
    await expect(codec.decode([{ metadata: sealed?.metadata }])).rejects.toMatchObject({ code: 'not_decryptable' });
  });

  test('decrypts with every key of the ring, encrypts with the first, and names a missing key', async () => {
    const [written] = await createPayloadCodec(before).encode([defaultPayloadConverter.toPayload('earlier')]);
    const [read] = await codec.decode([written as Payload]);
    expect(read && defaultPayloadConverter.fromPayload(read)).toBe('earlier');
    const [next] = await codec.encode([defaultPayloadConverter.toPayload('later')]);
    expect(keyIdOf(next)).toBe('new');
    const behind = createPayloadCodec(before).decode([next as Payload]);
    await expect(behind).rejects.toMatchObject({
      code: 'encryption_key_unknown',
      message: expect.stringContaining('"new"'),
    });
  });

  test('decrypts nothing with another key of the same id, or another id of the same key', async () => {
    const [sealed] = await codec.encode([defaultPayloadConverter.toPayload('x')]);
    const other = createPayloadCodec(parseKeyRing(newKeyLine('new')));
    await expect(other.decode([sealed as Payload])).rejects.toMatchObject({ code: 'not_decryptable' });
    const renamed = createPayloadCodec(parseKeyRing(current.replace('new:', 'renamed:')));
    const metadata = { ...sealed?.metadata, 'encryption-key-id': Buffer.from('renamed') };
    await expect(renamed.decode([{ ...sealed, metadata }])).rejects.toMatchObject({ code: 'not_decryptable' });
  });

  test('reads an unencrypted payload unless encryption is required', async () => {
    const clear = defaultPayloadConverter.toPayload('clear');
    expect(await codec.decode([clear])).toEqual([clear]);
    const strict = createPayloadCodec(rotated, { requireEncrypted: true });
    const activity: SerializationContext = { type: 'activity', namespace: 'default', isLocal: false };
    await expect(strict.decode([clear], activity)).rejects.toMatchObject({ code: 'not_encrypted' });
    await expect(strict.decode([clear])).rejects.toMatchObject({ code: 'not_encrypted' });
    const workflow: SerializationContext = { type: 'workflow', namespace: 'default', workflowId: 'w' };
    const [refused] = await strict.decode([clear], workflow);
    expect(isRefusedInput(refused && defaultPayloadConverter.fromPayload(refused))).toBe(true);
    const [sealed] = await strict.encode([clear]);
    expect((await strict.decode([sealed as Payload])).map(plainOf)).toEqual([clear].map(plainOf));
  });

  test('adds few bytes to a megabyte', async () => {
    const clear = { metadata: { encoding: Buffer.from('binary/plain') }, data: randomBytes(1_000_000) };
    const [sealed] = await codec.encode([clear]);
    const size = (one: Payload | undefined) =>
      (one?.data?.length ?? 0) + Object.values(one?.metadata ?? {}).reduce((sum, value) => sum + value.length, 0);
    expect(size(sealed) - size(clear)).toBeLessThan(100);
  });
});

describe('key rings', () => {
  const key = newKeyLine('k').slice(2);
  test.each([
    ['no key', '\n# only a comment\n', 'holds no key'],
    ['no colon', key, 'line 1'],
    ['a short key', `a:${Buffer.alloc(31).toString('base64')}`, '32 bytes'],
    ['a long key', `a:${Buffer.alloc(33).toString('base64')}`, '32 bytes'],
    ['no base64', 'a:?', '32 bytes'],
    ['an id with a space', `a b:${key}`, 'line 1'],
    ['one id twice', `a:${key}\na:${key}`, 'two keys'],
  ])('%s is refused, and the message contains no key', (_, text, why) => {
    expect(() => parseKeyRing(text)).toThrow(expect.objectContaining({ code: 'bad_configuration' }));
    expect(() => parseKeyRing(text)).toThrow(why);
    expect(() => parseKeyRing(text)).not.toThrow(key);
  });

  test('print nothing of a key', () => {
    expect(JSON.stringify(parseKeyRing(`k:${key}`))).not.toContain(key.slice(0, 20));
  });
});

function plainOf({ metadata, data }: Payload) {
  const fields = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('hex')]);
  return [fields.sort(), Buffer.from(data ?? []).toString('hex')];
}

function keyIdOf(sealed: Payload | undefined): string {
  return Buffer.from(sealed?.metadata?.['encryption-key-id'] ?? []).toString();
}

test('a refused early query stays readable, so that clients recognise and repeat it', () => {
  // Temporal's SDK requires it by this path, too.
  const { failureConverter } = createRequire(import.meta.url)(failureConverterPath) as {
    failureConverter: DefaultFailureConverter;
  };
  const convert = (message: string) => failureConverter.errorToFailure(new Error(message), defaultPayloadConverter);
  expect(convert(earlyQueryText)).toMatchObject({ message: earlyQueryText, stackTrace: '' });
  expect(convert(earlyQueryText).encodedAttributes).toBeFalsy();
  expect(convert(`${earlyQueryText} And a secret.`)).toMatchObject({ message: 'Encoded failure' });
});
