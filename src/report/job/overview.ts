/** The head, the tiles and the cost of the report of a job. */
import { jobWorkflowId } from '../../addresses/addresses.js';
import { endText, shortfallOfJob } from '../../protocol/shortfall.js';
import type { Tile } from '../batch/sections/outcomes.js';
import { countText, dollarsText, durationText, machineText, timeText } from '../format.js';
import { endOfSandbox, whatIsLeft } from '../left-words.js';
import { html, link, type Markup } from '../markup.js';
import { styleOf } from '../outcome-styles.js';
import type { OutcomeStyle } from '../page-data.js';
import { plainText } from '../plain-text.js';
import { sum } from '../stats.js';
import { workflowUrl } from '../workflow-url.js';
import type { JobReportData } from './job-data.js';
import type { JobMachine, JobSpan } from './job-times.js';

const titleLength = 120;

export function jobTitle({ jobId, prompts }: Pick<JobReportData, 'jobId' | 'prompts'>): string {
  const text =
    plainText((prompts[0]?.prompt ?? '').slice(0, 4 * titleLength))
      .split('\n')
      .map((line) => line.replace(/^[#\s]+/, '').trim())
      .find((line) => line !== '' && !/^(?:```|~~~)/.test(line)) ?? '';
  if (text === '') return plainText(jobId);
  return text.length > titleLength ? `${text.slice(0, titleLength)}…` : text;
}

function styleOfJob({ outcome, isRunning, files, left, error }: JobReportData): OutcomeStyle {
  if (outcome !== null) {
    const style = styleOf(outcome);
    const shortfall = shortfallOfJob({ outcome, files, left, error });
    if (shortfall === null) return style;
    const lacking: OutcomeStyle = { ...style, word: endText({ outcome: style.word, shortfall }) };
    return outcome === 'completed' ? { ...lacking, mark: '▲', tone: 'warn' } : lacking;
  }
  return isRunning
    ? { word: 'still running', mark: '…', tone: 'calm' }
    : { word: 'ended without a result', mark: '✕', tone: 'bad' };
}

export function jobHeader(data: JobReportData, { startMs, endMs }: JobSpan): Markup {
  const { ui, jobId, isRunning, deadlineAt, sandboxId, sandboxName, setup, startedAt } = data;
  const { word, mark, tone } = styleOfJob(data);
  const url = ui ? workflowUrl(ui, jobWorkflowId(ui.deployment, jobId)) : null;
  const facts: readonly (readonly [string, string | Markup])[] = [
    ['Job', url === null ? plainText(jobId) : link(url, plainText(jobId))],
    ['Started', timeText(startedAt)],
    [isRunning ? 'Running for' : 'Took', durationText(endMs - startMs)],
    ...(isRunning && deadlineAt !== null ? ([['Deadline', timeText(deadlineAt)]] as const) : []),
    ['Sandbox', plainText(sandboxId ?? 'none')],
    ...(sandboxName === null ? [] : ([['Name', plainText(sandboxName)]] as const)),
    ['End of the sandbox', sandboxEnd(data)],
    ...(setup === null ? [] : ([['Setup', plainText(setup.status)]] as const)),
  ];
  return html`<header class="top"><p class="eyebrow">sandflow job</p>
<h1 dir="auto">${jobTitle(data)}</h1>
<p class="verdict"><strong class="badge tone-${tone}"><span aria-hidden="true">${mark}</span> ${capital(word)}</strong> ${data.doing.slice(0, 1).map((text) => html`<span>${plainText(text)}</span>`)}</p>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${alerts(data)}<p class="made">Created ${timeText(data.generatedAt)}.</p></header>`;
}

function alerts({ error, blocked, degraded, doing, left, setup }: JobReportData): Markup[] {
  const texts = [
    ...(error ? [`${error.code}: ${error.message}`] : []),
    ...(setup?.error ? [`Setup script: ${setup.error}`] : []),
    ...(blocked ? [`Waiting since ${timeText(blocked.since)}: ${blocked.message}`] : []),
    ...(degraded ? [degradedText(degraded)] : []),
    ...doing.slice(1),
    ...left.map((one) => `Left behind: ${whatIsLeft(one)}: ${one.why}`),
  ];
  return texts.map(
    (text) => html`<p class="alert" dir="auto"><span aria-hidden="true">▲</span> ${plainText(text)}</p>`,
  );
}

function degradedText({ sandboxId, since, reason }: NonNullable<JobReportData['degraded']>): string {
  const from = since === null ? '' : ` since ${timeText(since)}`;
  return `The sandbox ${sandboxId} is degraded${from}: alive, but not fully reachable${reason === null ? '' : ` (${reason})`}.`;
}

function sandboxEnd(data: JobReportData): string {
  const end = endOfSandbox(data);
  if (end !== null) return plainText(end);
  if (data.sandboxId === null) return '–';
  return data.isRunning ? 'it runs' : 'it was kept';
}

export function jobTiles(data: JobReportData, span: JobSpan, machine: JobMachine | null): Tile[] {
  const { prompts, wakes, wakeCount, apiCalls, dollarsPerSecond = null, isRunning } = data;
  const completed = prompts.filter(({ status }) => status === 'completed').length;
  const prompting = sum(span.segments.filter(({ kind }) => kind === 'prompting').map(({ from, to }) => to - from));
  const webhooks = wakes.filter(({ by }) => by === 'webhook').length;
  const money = machine && dollarsPerSecond !== null ? dollarsText(machine.seconds * dollarsPerSecond) : null;
  return [
    {
      name: isRunning ? 'Running for' : 'Took',
      value: durationText(span.endMs - span.startMs),
      note: `${durationText(prompting)} of it prompting`,
    },
    {
      name: 'Prompts completed',
      value: countText(completed),
      note: `of ${countText(prompts.length)}`,
    },
    {
      name: 'API calls',
      value: countText(apiCalls),
      note: 'of the steps of the job',
    },
    { name: 'Wakes', value: countText(wakeCount), note: `${countText(webhooks)} by a webhook` },
    ...(machine === null
      ? []
      : [
          money === null
            ? { name: 'Machine time', value: durationText(machine.seconds * 1_000), note: machine.type }
            : { name: 'Cost', value: money, note: `list price of ${durationText(machine.seconds * 1_000)}` },
        ]),
  ];
}

/** @returns null if no machine is known */
export function jobCostSection(
  { dollarsPerSecond = null, isRunning }: JobReportData,
  machine: JobMachine | null,
): Markup | null {
  if (machine === null) return null;
  const rows: readonly (readonly [string, string])[] = [
    ['Machine size', machine.type],
    [isRunning ? 'Running for' : 'It ran for the job', durationText(machine.ms)],
    ['Machine time', machineText(machine.seconds)],
    ...(dollarsPerSecond === null ? [] : ([['List price', dollarsText(machine.seconds * dollarsPerSecond)]] as const)),
  ];
  return html`<section class="card" id="cost" aria-labelledby="cost-title"><h2 id="cost-title">Cost</h2>
<p class="note">Machine time counts the multiplier of the machine size. The price of the agent's model is not in it.</p>
<dl class="rows">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd class="number">${value}</dd></div>`)}</dl></section>`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
