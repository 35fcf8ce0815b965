/** The section with commands to continue with. */
import { html, type Markup } from '../../markup.js';

export interface FollowUp {
  /** What the command does, such as `Run what did not complete`. */
  readonly does: string;
  readonly command: string;
}

/**
 * Results are not trusted. A reader may paste a command into a shell, so an id in it must not contain anything that a
 * shell interprets.
 */
export function isPlainId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id);
}

export function commandsSection(followUps: readonly FollowUp[]): Markup | null {
  if (followUps.length === 0) return null;
  return html`<section class="card" id="commands" aria-labelledby="commands-title"><h2 id="commands-title">Next</h2>
<dl class="commands">${followUps.map(({ does, command }) => html`<div><dt>${does}</dt><dd><code>${command}</code><button type="button" class="copy" hidden>Copy</button></dd></div>`)}</dl></section>`;
}
