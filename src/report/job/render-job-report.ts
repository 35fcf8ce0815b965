/** Renders the report of a job as one self-contained file. */

import { tilesSection } from '../batch/sections/outcomes.js';
import { fairLimit, maxAllTextBytes, textBytes } from '../cut-text.js';
import { documentOf } from '../document.js';
import { bytesText } from '../format.js';
import { html } from '../markup.js';
import { plainText } from '../plain-text.js';
import { stepTexts } from './agent-steps.js';
import type { JobReportData } from './job-data.js';
import { jobMachine, jobSpan } from './job-times.js';
import { jobCostSection, jobHeader, jobTiles, jobTitle } from './overview.js';
import { timelineOfJob } from './timeline.js';
import { filesSection, transcriptSection } from './transcript.js';

/** Limit of one text, in bytes. */
const longestTextBytes = 500_000;

/**
 * Renders the report of a job, running or ended, as one HTML document. The document works offline and runs no
 * script. Texts of agents are never interpreted as HTML. Texts of more than 500 kB are cut at their end, and all texts together take at most 24 MB.
 * @returns the document, to be written as UTF-8
 */
export function renderJobReport(data: JobReportData): string {
  const span = jobSpan(data);
  const machine = jobMachine(data, span);
  const texts = [
    ...data.prompts.flatMap(({ prompt, result, error }) => [prompt, result ?? '', error ?? '']),
    ...data.previews.values(),
    ...stepTexts(data),
  ];
  const limit = fairLimit(
    texts.map((text) => textBytes(plainText(text), longestTextBytes)),
    longestTextBytes,
    maxAllTextBytes,
  );
  const body = html`<a class="skip" href="#transcript">Skip to the transcript</a>
<div class="page">${jobHeader(data, span)}
<main>${tilesSection(jobTiles(data, span, machine))}
${transcriptSection(data, limit)}${filesSection(data, limit)}${timelineOfJob(data, span)}
${jobCostSection(data, machine)}</main>
<footer><p>Each text is cut at ${bytesText(limit)}. The full texts are in the result store.</p></footer></div>`;
  return documentOf(`${jobTitle(data)} – sandflow job`, body);
}
