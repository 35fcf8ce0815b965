/** The rounds of checks: a mark each in the row of an item, how many items needed which, and what each check said. */
import type { CheckRound } from '../protocol/job/job-result.js';
import { lineOf, type Room } from './bounded-text.js';
import { html, type Markup } from './markup.js';
import { barsTable, countOf, durationText } from './numbers.js';
import { marks, outcomeBadge } from './outcome-styles.js';

/** Whether the checks passed in each round of the agent. */
export function roundsOf(rounds: readonly CheckRound[] = []): boolean[] {
  return rounds.filter(({ round }) => round > 0).map(({ passed }) => passed);
}

/** @returns null without rounds */
export function roundMarks(rounds: readonly boolean[]): Markup | null {
  if (rounds.length === 0) return null;
  const words = rounds.map((passed) => (passed ? 'passed' : 'failed')).join(', ');
  const label = `${countOf(rounds.length, 'round', 'rounds')} of checks: ${words}`;
  const tones = rounds.map((passed) => (passed ? 'good' : 'bad'));
  const shown = tones.map((tone) => html`<span class="${tone}">${marks[tone]}</span>`);
  return html` <span class="rounds" role="img" aria-label="${label}" title="${label}">${shown}</span>`;
}

/** How many items passed in which round. @returns null if no item has come to the end of a round */
export function roundsSection(items: readonly { readonly rounds: readonly boolean[] }[]): Markup | null {
  const checked = items.filter(({ rounds }) => rounds.length > 0);
  if (checked.length === 0) return null;
  const passed = checked.filter(({ rounds }) => rounds.at(-1));
  const most = Math.max(0, ...passed.map(({ rounds }) => rounds.length));
  const rows = Array.from({ length: most }, (_, at) => ({
    name: outcomeBadge('completed', { word: `passed in round ${at + 1}` }),
    count: passed.filter(({ rounds }) => rounds.length === at + 1).length,
  }));
  rows.push({ name: outcomeBadge('unverified', { word: 'not passed' }), count: checked.length - passed.length });
  return html`<section><h2>Rounds of checks</h2>${barsTable('Checks', rows)}</section>`;
}

/** Every round with its checks, and the output of those that failed. */
export function roundDetails(rounds: readonly CheckRound[], room: Room): Markup[] {
  return rounds.map(({ round, passed, runs }) => {
    const tone = passed ? 'good' : round === 0 ? 'calm' : 'bad';
    const badge = outcomeBadge('', { tone, word: passed ? 'passed' : 'failed' });
    const when = round === 0 ? 'before the first prompt' : `of round ${round}`;
    const checks = runs.map(({ command, exitCode, output, durationMs }) => {
      const how = exitCode === null ? 'no exit code' : `exit code ${exitCode}`;
      return html`<p><code>${lineOf(command)}</code> <span class="note">${how}, ${durationText(durationMs)}</span></p>${exitCode === 0 || output === '' ? null : room.block(output)}`;
    });
    return html`<h3>Checks ${when} ${badge}</h3>${checks}`;
  });
}
