import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createPacedWrite } from '../../../../src/cli/output/paced-output.js';

describe('writing to a reader that may be slow or gone', () => {
  const never = new AbortController().signal;

  it('waits until a slow reader has read', async () => {
    const stdout = new PassThrough({ highWaterMark: 4 });
    const write = createPacedWrite({ stdout, interrupted: never });
    const writing = write('more than four bytes');
    expect(String(stdout.read())).toBe('more than four bytes');
    expect(await writing).toBe(true);
  });

  it('says so when the reader goes away while it waits, and writes nothing more', async () => {
    const stdout = new PassThrough({ highWaterMark: 4 });
    const write = createPacedWrite({ stdout, interrupted: never });
    const writing = write('more than four bytes');
    stdout.destroy();
    expect(await writing).toBe(false);
    expect(await write('again')).toBe(false);
  });

  it('ends at Ctrl-C while it waits', async () => {
    const interrupt = new AbortController();
    const stdout = new PassThrough({ highWaterMark: 4 });
    const write = createPacedWrite({ stdout, interrupted: interrupt.signal });
    const writing = write('more than four bytes');
    interrupt.abort(new Error('SIGTERM'));
    await expect(writing).rejects.toThrow('SIGTERM');
  });
});
