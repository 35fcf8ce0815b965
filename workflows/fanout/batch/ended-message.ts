/** What a batch tells at its end: one message for all of its items. Pure. */
import type { FanoutResult } from '../../../src/protocol/fanout/fanout-result.js';

export function endedMessage({ counts, error, budget, left, leftMore }: FanoutResult): string {
  const { items, completed, byOutcome } = counts;
  const others = Object.entries(byOutcome).filter(([outcome, count]) => outcome !== 'completed' && count > 0);
  const parts = [`${completed} of ${items} completed`, ...others.map(([outcome, count]) => `${count} ${outcome}`)];
  const minutes = Math.round(budget.spentSeconds / 60);
  const cost = minutes > 0 ? [`It used ${minutes} machine-minutes`] : [];
  const leftCount = left.length + leftMore;
  const leaves = leftCount > 0 ? [`${leftCount} of what it started may still run and cost machine time`] : [];
  return [parts.join(', '), ...(error ? [error.message.replace(/\.$/, '')] : []), ...cost, ...leaves].join('. ');
}
