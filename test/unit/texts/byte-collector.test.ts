import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createByteCollector, readBytes } from '../../../src/texts/byte-collector.js';

it('returns all bytes in their order, however they are divided', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 20 });
  fc.assert(
    fc.property(pieces, (all) => {
      const collector = createByteCollector();
      for (const piece of all) collector.add(piece);
      expect(Buffer.from(collector.bytes())).toEqual(Buffer.concat(all));
      expect(collector.size).toBe(Buffer.concat(all).length);
    }),
    { numRuns: 50 },
  );
});

it('stops reading as soon as there are too many bytes, and not before', async () => {
  let read = 0;
  async function* stream() {
    for (; read < 10; read += 1) yield Uint8Array.of(read, read);
  }
  expect(await readBytes(stream(), 3)).toBe('too_large');
  expect(read).toBe(1);
  read = 8;
  expect(await readBytes(stream(), 4)).toEqual(Uint8Array.of(8, 8, 9, 9));
});
