/** How each outcome of an item is shown. */
import type { ItemOutcome } from '../protocol/fanout/fanout-input.js';
import { html, type Markup } from './markup.js';
import type { OutcomeStyle } from './page-data.js';

export const outcomeStyles: Readonly<Record<ItemOutcome, OutcomeStyle>> = {
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

/** The style of an outcome, even of an outcome that only a newer version knows. */
export function styleOf(outcome: string): OutcomeStyle {
  const styles: Readonly<Record<string, OutcomeStyle>> = outcomeStyles;
  return Object.hasOwn(styles, outcome) ? (styles[outcome] ?? unknown(outcome)) : unknown(outcome);
}

export function outcomeBadge({ word, mark, tone }: OutcomeStyle): Markup {
  return html`<span class="outcome tone-${tone}"><span class="mark" aria-hidden="true">${mark}</span> ${word}</span>`;
}

function unknown(outcome: string): OutcomeStyle {
  return { word: outcome.replaceAll('_', ' '), mark: '?', tone: 'calm' };
}
