/** Bounds what an event of a sandbox's history takes: its texts come from an agent, which may write any amount. */
import { cut } from '../../texts/length.js';
import type { SandboxHistoryEvent } from './sandbox-records.js';

/** The longest text of an event that is kept, in characters. */
const maxTextLength = 64 * 1024;

/**
 * The known fields of an event. Texts in its data are cut at 64 Ki characters, and longer values of other kinds left
 * out.
 */
export function shortEvent(event: SandboxHistoryEvent): SandboxHistoryEvent {
  const { id, type, conversationId, promptId, createdAt, data } = event;
  const known = { id, type, conversationId, promptId, createdAt };
  if (data === undefined) return known;
  const short = Object.entries(data).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value === 'string') return [[name, shortText(value)]];
    return typeof value === 'object' && JSON.stringify(value).length > maxTextLength ? [] : [[name, value]];
  });
  return { ...known, data: Object.fromEntries(short) };
}

function shortText(text: string): string {
  // A copy, because a part of a string keeps the whole string in memory.
  return text.length <= maxTextLength ? text : Buffer.from(cut(text, maxTextLength)).toString();
}
