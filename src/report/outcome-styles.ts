/** How each outcome of an item is shown. */
import type { ItemOutcome } from '../../workflows/fanout/types.js';
import type { OutcomeLook } from './page-data.js';

export const outcomeLooks: Readonly<Record<ItemOutcome, OutcomeLook>> = {
  completed: { word: 'completed', mark: '✓', tone: 'good' },
  prompt_failed: { word: 'prompt failed', mark: '✕', tone: 'bad' },
  sandbox_failed: { word: 'sandbox failed', mark: '▲', tone: 'bad' },
  rejected: { word: 'rejected', mark: '⊘', tone: 'bad' },
  sandbox_cancelled: { word: 'no machine', mark: '◇', tone: 'warn' },
  deadline_exceeded: { word: 'deadline exceeded', mark: '◔', tone: 'warn' },
  outcome_unknown: { word: 'outcome unknown', mark: '?', tone: 'warn' },
  cancelled: { word: 'cancelled', mark: '■', tone: 'calm' },
  not_started: { word: 'not started', mark: '○', tone: 'calm' },
};

/** Also of an outcome that a newer version wrote. */
export function lookOf(outcome: string): OutcomeLook {
  const looks: Readonly<Record<string, OutcomeLook>> = outcomeLooks;
  return Object.hasOwn(looks, outcome) ? (looks[outcome] ?? unknown(outcome)) : unknown(outcome);
}

function unknown(outcome: string): OutcomeLook {
  return { word: outcome.replaceAll('_', ' '), mark: '?', tone: 'calm' };
}
