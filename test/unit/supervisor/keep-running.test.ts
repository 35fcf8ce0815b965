import { describe, expect, it, vi } from 'vitest';
import { keepRunning, type RunningService } from '../../../src/supervisor/keep-running.js';

/** A service that the test ends. */
function createService(pid: number) {
  let end: () => void = () => undefined;
  const exited = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stop = vi.fn(async () => end());
  const service: RunningService = { pid, url: 'http://127.0.0.1:1', exited, stop };
  return { service, end, stop };
}

const signal = new AbortController().signal;

describe('keeping a service running', () => {
  it('restarts it when it ends, and retries if that fails', async () => {
    const first = createService(1);
    const second = createService(2);
    const start = vi
      .fn<() => Promise<RunningService>>()
      .mockResolvedValueOnce(first.service)
      .mockRejectedValueOnce(new Error('the port is taken\nmore'))
      .mockResolvedValueOnce(second.service);
    const log = vi.fn();
    const kept = await keepRunning({ name: 'part', start, log, signal });
    expect(kept.pid()).toBe(1);
    first.end();
    await expect.poll(() => kept.pid()).toBe(2);
    expect(log.mock.calls.flat()).toEqual([
      'part exited; restarting it',
      'part could not be restarted: the port is taken',
      'part is running again',
    ]);
    await kept.stop();
    expect(second.stop).toHaveBeenCalled();
    expect(start).toHaveBeenCalledTimes(3);
  });

  it('reports at once if it cannot start at all', async () => {
    const start = () => Promise.reject(new Error('no'));
    await expect(keepRunning({ name: 'part', start, log: () => undefined, signal })).rejects.toThrow('no');
  });

  it('does not restart it after a stop', async () => {
    const { service } = createService(1);
    const start = vi.fn(async () => service);
    const kept = await keepRunning({ name: 'part', start, log: () => undefined, signal });
    await kept.stop();
    await kept.stop();
    expect(start).toHaveBeenCalledOnce();
  });

  it('ends what starts during the stop', async () => {
    const first = createService(1);
    const late = createService(2);
    let letGo: (service: RunningService) => void = () => undefined;
    const start = vi
      .fn<() => Promise<RunningService>>()
      .mockResolvedValueOnce(first.service)
      .mockImplementationOnce(
        () =>
          new Promise((resolve) => {
            letGo = resolve;
          }),
      );
    const kept = await keepRunning({ name: 'part', start, log: () => undefined, signal });
    first.end();
    await expect.poll(() => start.mock.calls.length).toBe(2);
    const stopping = kept.stop();
    letGo(late.service);
    await stopping;
    expect(late.stop).toHaveBeenCalled();
  });
});
