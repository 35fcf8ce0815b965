/** How each outcome is shown: a word with a mark, so that it does not depend on colour. */
import type { FanoutOutcome, ItemOutcome } from '../protocol/fanout/fanout-input.js';
import { html, type Markup } from './markup.js';

/** The mark of each tone. Its name is also that of its colour. */
export const marks = { good: '✓', bad: '✕', warn: '▲', calm: '■' } as const;
type Tone = keyof typeof marks;

/** Outcomes of items, and of batches. Those of items are shown in this order. */
const tones: Readonly<Record<ItemOutcome | FanoutOutcome, Tone>> = {
  completed: 'good',
  unverified: 'bad',
  prompt_failed: 'bad',
  sandbox_failed: 'bad',
  rejected: 'bad',
  sandbox_cancelled: 'warn',
  deadline_exceeded: 'warn',
  outcome_unknown: 'warn',
  cancelled: 'calm',
  not_started: 'calm',
  partly_failed: 'warn',
  failed_fast: 'bad',
  budget_spent: 'warn',
  source_failed: 'bad',
};

export const knownOutcomes: readonly string[] = Object.keys(tones);

/** The words of an outcome, even of an outcome that only a newer version knows. */
export function outcomeWord(outcome: string): string {
  return outcome === 'sandbox_cancelled' ? 'no machine' : outcome.replaceAll('_', ' ');
}

/** Whose failure it is, as a word with a border. */
export function classChip(failureClass: string): Markup {
  return html`<span class="chip">${failureClass}</span>`;
}

/** @param options.tone default: that of the outcome @param options.word default: the words of the outcome */
export function outcomeBadge(
  outcome: string,
  {
    tone = new Map<string, Tone>(Object.entries(tones)).get(outcome) ?? 'calm',
    word = outcomeWord(outcome),
  }: { readonly tone?: Tone; readonly word?: string } = {},
): Markup {
  return html`<span class="${tone}"><span aria-hidden="true">${marks[tone]}</span> ${word}</span>`;
}
