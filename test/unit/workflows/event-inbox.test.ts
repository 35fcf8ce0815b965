import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SandboxEvent } from '../../../src/protocol/messages.js';
import { EventInbox } from '../../../workflows/shared/event-inbox.js';

const event = (id: string, over: Partial<SandboxEvent> = {}): SandboxEvent => ({
  id,
  type: 'sandbox.ready',
  createdAt: '2026-01-01T00:00:00.000Z',
  sandboxId: 'bx_22222222',
  sandboxName: 'n',
  ...over,
});

describe('EventInbox', () => {
  it('S8: keeps an event that arrived before the sandbox id was known', () => {
    const inbox = new EventInbox();
    const mark = inbox.mark();
    inbox.record(event('a'));
    expect(inbox.next('bx_22222222', ['sandbox.ready'], mark)?.event.id).toBe('a');
  });

  it('ignores events of other sandboxes and of other types', () => {
    const inbox = new EventInbox();
    inbox.record(event('a', { sandboxId: 'bx_33333333' }));
    inbox.record(event('b', { type: 'sandbox.archived' }));
    expect(inbox.next('bx_22222222', ['sandbox.ready'], 0)).toBeUndefined();
  });

  it('drops a repeated delivery', () => {
    const inbox = new EventInbox();
    inbox.record(event('a'));
    const first = inbox.next('bx_22222222', ['sandbox.ready'], 0);
    inbox.record(event('a'));
    expect(inbox.next('bx_22222222', ['sandbox.ready'], first?.mark ?? 0)).toBeUndefined();
  });

  it('returns each event once, oldest first, despite duplicates', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 100 }), (ids) => {
        const inbox = new EventInbox();
        for (const id of ids) inbox.record(event(String(id)));
        const given: string[] = [];
        for (let mark = 0; ; ) {
          const next = inbox.next('bx_22222222', ['sandbox.ready'], mark);
          if (!next) break;
          given.push(next.event.id);
          mark = next.mark;
        }
        expect(given).toEqual([...new Set(ids.map(String))]);
      }),
    );
  });

  it('keeps the events of its own sandbox, whatever the number of others with its name', () => {
    const inbox = new EventInbox();
    inbox.record(event('own'));
    for (let index = 0; index < 2_000; index += 1) inbox.record(event(`${index}`, { sandboxId: 'bx_33333333' }));
    const carried = new EventInbox(inbox.carry());
    for (const one of [inbox, carried]) expect(one.next('bx_22222222', ['sandbox.ready'], 0)?.event.id).toBe('own');
    expect(carried.carry().recorded).toHaveLength(100);
  });
});
