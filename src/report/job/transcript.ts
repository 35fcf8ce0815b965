/** The sections with the conversation and with the collected files. */

import type { CollectedFile, PromptResult } from '../../protocol/job/job-result.js';
import { lastDrawn } from '../../texts/terminal-text.js';
import { fileMarks } from '../file-marks.js';
import { bytesText, countText, durationText } from '../format.js';
import { html, type Markup } from '../markup.js';
import { plainText } from '../plain-text.js';
import { stepsMarkup, stepsOf } from './agent-steps.js';
import type { JobReportData } from './job-data.js';
import { textBlock } from './text-block.js';

/**
 * Names of files that a browser shows as text or as an image. The report links to no other file. A browser would run
 * the scripts of an HTML file from an agent. Only known names are allowed, because browsers treat many names as pages
 * (`.shtml`, `.atom`, `.xht`).
 */
const shownAsTextOrImage =
  /\.(?:txt|text|log|md|markdown|json|jsonl|ndjson|csv|tsv|ya?ml|toml|ini|diff|patch|png|jpe?g|gif|webp|avif)$/i;

/** @param limit limit of one text, in bytes */
export function transcriptSection(data: JobReportData, limit: number): Markup | null {
  const { jobId, prompts, isRunning } = data;
  if (prompts.length === 0) return null;
  const turns = prompts.map((prompt, at) => {
    const steps = stepsMarkup(stepsOf(data, at + 1), { jobId, limit });
    return turn(prompt, prompts.length > 1 ? ` ${at + 1}` : '', { limit, isRunning, steps });
  });
  const others = stepsMarkup(stepsOf(data, null), { jobId, limit });
  return html`<section class="card" id="transcript" aria-labelledby="transcript-title"><h2 id="transcript-title">Transcript</h2>${turns}${others}</section>`;
}

function turn(
  { prompt, result, error, status, startedAt, queuedAt, endedAt, resultRef }: PromptResult,
  number: string,
  { limit, isRunning, steps }: { readonly limit: number; readonly isRunning: boolean; readonly steps: Markup | null },
): Markup {
  const tookMs = Date.parse(endedAt ?? '') - Date.parse(startedAt ?? queuedAt ?? '');
  const took = Number.isNaN(tookMs) ? '' : ` in ${durationText(Math.max(0, tookMs))}`;
  const isUnderWay = isRunning && endedAt === null && status !== 'not_sent';
  // While the agent works on a prompt, the service may still show the status `queued`.
  const word = isUnderWay ? 'under way' : plainText(status).replaceAll('_', ' ');
  const note = html`<span class="note">  ${word}${took}</span>`;
  const none = html`<p class="note">There is no answer${isRunning ? ' yet' : ''}.</p>`;
  const answer = result === null ? null : textBlock(lastDrawn(result), limit, { ref: resultRef });
  return html`<article class="turn"><h3>Prompt${number}</h3>${textBlock(prompt, limit, { name: 'quiet' })}${steps}
<h3>Answer${number}${note}</h3>${answer ?? (error === null ? none : null)}${error === null ? null : html`<div class="alert">${textBlock(error, limit)}</div>`}</article>`;
}

/** @param limit limit of one text, in bytes */
export function filesSection({ files, copies, previews }: JobReportData, limit: number): Markup | null {
  if (files.length === 0) return null;
  const entries = files.map((file) => fileEntry(file, copies.get(file.path), previews.get(file.ref ?? ''), limit));
  return html`<section class="card" id="files" aria-labelledby="files-title"><h2 id="files-title">Files <span class="note">${countText(files.length)}</span></h2><ul class="file-list">${entries}</ul></section>`;
}

function fileEntry(file: CollectedFile, copy: string | undefined, preview: string | undefined, limit: number): Markup {
  const { path, size, error } = file;
  const name = html`<bdi class="path">${plainText(path)}</bdi>`;
  const marks = fileMarks(file);
  const about = error ?? `${size === null ? '' : bytesText(size)}${marks === '' ? '' : ` (${marks})`}`;
  const head = html`${copy === undefined || !shownAsTextOrImage.test(copy) ? name : html`<a href="${copy}">${name}</a>`}<span class="note">${plainText(about)}</span>`;
  if (preview === undefined) return error === null ? html`<li>${head}</li>` : html`<li class="failed">${head}</li>`;
  return html`<li><details><summary>${head}</summary>${textBlock(preview, limit)}</details></li>`;
}
