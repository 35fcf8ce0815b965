import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageDetails } from '../../../src/report/batch/page-items.js';
import { type JobReportData, renderJobReport } from '../../../src/report/index.js';
import { jobMachine, jobSpan } from '../../../src/report/job/job-times.js';
import { hostileText } from './hostile.js';
import { sampleBatch } from './sample-batch.js';
import { sampleJob } from './sample-job.js';

describe('the report of a job', () => {
  test('has phases, wakes and their causes, the transcript, files with their copies, and the cost', () => {
    const shown = renderJobReport(sampleJob({ dollarsPerSecond: 0.001 }));
    for (const phase of ['requesting', 'booting', 'preparing', 'prompting', 'collecting and ending'])
      expect(shown).toContain(`<th scope="row">${phase}</th>`);
    expect(shown).toContain('3 wakes: 2 by a webhook, 1 by a safety poll.');
    expect(shown).toMatch(
      /<td class="clock">09:00:09<\/td><th scope="row">webhook sandbox\.ready<\/th><td class="word">usable<\/td>/,
    );
    expect(shown).toMatch(/Prompt 2<\/h3>[\s\S]*Answer 2<span class="note"> {2}completed in 47 s/);
    expect(shown).toContain('\n1. `totals.ts` adds rounded lines');
    expect(shown).toContain('<a href="files/out/notes.md"><bdi class="path">out/notes.md</bdi></a>');
    expect(shown).not.toContain('href="files/out/patch.diff"');
    // 131.8 s on a large machine, which counts twice.
    expect(shown).toContain('<dd class="number">264 s (4 m 24 s)</dd>');
    expect(shown).toContain('<dd class="number">$0.2636</dd>');
    expect(shown).toContain('stop completed, work saved');
  });

  describe('what the agent said and ran', () => {
    const command = (prompt: number | null, run: string, output = '', exitCode = 0) =>
      ({ kind: 'command', at: null, prompt, command: run, exitCode, output }) as const;
    const message = (prompt: number | null, text: string) => ({ kind: 'message', at: null, prompt, text }) as const;

    test('stands with its prompt, folded, as a terminal shows it and never as HTML', () => {
      const output = '1 of 2\r2 of 2\n\u001b[31mFAIL\u001b[0m <b>';
      const steps = [
        message(1, 'I look.'),
        command(2, 'npm test\n', output, 3),
        command(2, 'ls'),
        command(null, 'date'),
      ];
      const shown = renderJobReport(sampleJob({ steps }));
      const [, first = '', second = ''] = shown.split('<article class="turn">');
      expect(first).toContain('What the agent did <span class="note">1 message</span>');
      expect(first).toContain('>I look.</pre>');
      expect(second).toContain('What the agent did <span class="note">2 commands</span>');
      expect(second).toContain('>$ npm test\n2 of 2\nFAIL &lt;b&gt;</pre><p class="note">exit code 3</p>');
      expect(second).toMatch(/<\/article>[\s\S]*\$ date<\/pre>/);
    });

    test('names other tools, with their output only if they failed, and the tokens next to the counts', () => {
      const tool = (failed: boolean) =>
        ({ kind: 'tool', at: null, prompt: 1, tool: 'Write', detail: 'a<b>.txt', failed, output: 'told' }) as const;
      const usage = { kind: 'usage', at: null, prompt: 1, text: 'tokens: 22 in, 14 out' } as const;
      const shown = renderJobReport(sampleJob({ steps: [tool(false), tool(true), command(1, 'ls'), usage] }));
      expect(shown).toContain('<span class="note">1 command, 2 tool calls, tokens: 22 in, 14 out</span>');
      expect(shown).toContain('>[Write] a&lt;b&gt;.txt</pre>');
      expect(shown).toContain('>[Write] a&lt;b&gt;.txt (failed)\ntold</pre>');
    });

    test('does not repeat the answer, and is cut if there is too much of it', () => {
      const result = sampleJob().prompts[0]?.result ?? '';
      expect(renderJobReport(sampleJob({ steps: [message(1, `${result}\n`)] }))).not.toContain('What the agent did');
      expect(renderJobReport(sampleJob())).not.toContain('What the agent did');
      const many = renderJobReport(
        sampleJob({ steps: Array.from({ length: 510 }, (_, at) => command(1, `echo ${at}`)) }),
      );
      expect(many).toContain('$ echo 499</pre>');
      expect(many).not.toContain('$ echo 500</pre>');
      expect(many).toContain(
        '… 10 more are not in this report. All of them: <code>sandflow jobs logs nightly-42</code>',
      );
    });
  });

  test('has answers as a terminal shows them in the end, as that of a batch', () => {
    const answer = '10 %\r100 %\n\u001b[32mPASS\u001b[0m';
    const prompts = sampleJob().prompts.map((prompt) => ({ ...prompt, result: answer }));
    expect(renderJobReport(sampleJob({ prompts }))).toContain('tabindex="0">100 %\nPASS</pre>');
    const [item] = sampleBatch(1).items;
    if (!item?.job) throw new Error('the sample has no job');
    const job = { ...item.job, prompts };
    const details = pageDetails({ ...item, job }, new Map(), { limit: 100, workflowUrl: null });
    expect(details.prompts[0]?.answer).toEqual({ text: '100 %\nPASS', cut: 0 });
  });

  test('says that a completed job lacks a file', () => {
    const files = sampleJob().files.map((file) => ({ ...file, ref: null, error: 'It does not exist' }));
    const words = files.length === 1 ? '1 file missing' : `${files.length} files missing`;
    expect(renderJobReport(sampleJob({ files }))).toContain(`Completed, ${words}</strong>`);
  });

  test('links to no file that a browser would run', () => {
    const [file] = sampleJob().files;
    if (!file) throw new Error('the sample has no file');
    const linked = (name: string): boolean =>
      renderJobReport(
        sampleJob({ files: [{ ...file, path: name }], copies: new Map([[name, `files/${name}`]]) }),
      ).includes(`href="files/${name}"`);
    // Chromium runs the scripts of each of these.
    const pages = 'html HTML htm shtml shtm ehtml xht xhtm xhtml svg svgz xml xsl xbl atom rss mhtml pdf'.split(' ');
    expect([...pages.map((end) => `a.${end}`), '.html', 'page', 'a.txt.html', 'a.unheard-of'].filter(linked)).toEqual(
      [],
    );
    expect(['a.txt', 'a.MD', 'a.json', 'a.diff', 'a.png', 'html.log'].filter(linked)).toHaveLength(6);
  });

  test('has the first line of the first prompt as its title, or the id of the job', () => {
    const [prompt] = sampleJob().prompts;
    const titled = (text: string): string | undefined => {
      const page = renderJobReport(sampleJob({ prompts: prompt ? [{ ...prompt, prompt: text }] : [] }));
      return /<title>([^<]*)<\/title>/.exec(page)?.[1];
    };
    expect(titled('\n## Fix the build\n\nNow.')).toBe('Fix the build – sandflow job');
    expect(titled('```sh\necho hi\n```')).toBe('echo hi – sandflow job');
    expect(titled('```')).toBe('nightly-42 – sandflow job');
  });

  test('calls a prompt that an agent works on under way, not queued', () => {
    const [prompt] = sampleJob().prompts;
    if (!prompt) throw new Error('the sample has no prompt');
    const working = { ...prompt, status: 'queued', result: null, startedAt: null, endedAt: null };
    const running = { outcome: null, isRunning: true, endedAt: null } as const;
    const shown = renderJobReport(sampleJob({ ...running, prompts: [working, { ...working, status: 'not_sent' }] }));
    expect(shown).toMatch(/Answer 1<span class="note"> {2}under way<[\s\S]*Answer 2<span class="note"> {2}not sent</);
  });

  test('of a running job says what it does', () => {
    const running = sampleJob({
      outcome: null,
      isRunning: true,
      endedAt: null,
      stop: null,
      files: [],
      doing: ['the agent is working · sbx_3k9f2.', 'getSandbox has not succeeded yet and is repeated'],
      degraded: { sandboxId: 'sbx_3k9f2', reason: 'no heartbeat', since: null },
      times: { ...sampleTimes(), answeredAt: null, endingAt: null, endedAt: null },
    });
    const shown = renderJobReport(running);
    expect(shown).toContain('Still running');
    expect(shown).toContain('the agent is working');
    expect(shown).toContain('getSandbox has not succeeded yet and is repeated');
    expect(shown).toContain('sbx_3k9f2 is degraded: alive, but not fully reachable (no heartbeat).');
    expect(jobSpan(running).segments.at(-1)).toMatchObject({ kind: 'prompting', to: 140_000 });
  });

  test('of a job that nobody knows much about has no empty panel', () => {
    const bare = sampleJob({
      outcome: null,
      times: null,
      machineType: null,
      prompts: [],
      files: [],
      wakes: [],
      wakeCount: 0,
      stop: null,
      sandboxId: null,
      sandboxName: null,
      error: { code: 'terminated', message: 'It was terminated.', status: null, requestId: null, details: null },
    });
    const shown = renderJobReport(bare);
    expect(shown).toContain('Ended without a result');
    expect(shown).toContain('terminated: It was terminated.');
    expect([...shown.matchAll(/<h2 id="([a-z]+)-title"/g)].map(([, id]) => id)).toEqual(['timeline']);
    expect(shown).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('knows the phases from the prompts alone, if no worker told them', () => {
    const { segments } = jobSpan(sampleJob({ times: null }));
    expect(segments.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['booting', 0, 12_000],
      ['prompting', 12_000, 120_000],
      ['ending', 120_000, 134_000],
    ]);
  });

  test('charges a machine that the job found from the start of the job', () => {
    const found = sampleJob({ times: { ...sampleTimes(), createdAt: null } });
    expect(jobMachine(found, jobSpan(found))).toEqual({ type: 'large', ms: 133_000, seconds: 266 });
    expect(jobMachine(sampleJob({ machineType: 'of-tomorrow' }), jobSpan(found))).toBeNull();
  });

  test('loads nothing, and hostile texts stay text', () => {
    const known = /^<(?!\/?(?:img|b|script|iframe|object|embed|form|input|base)\b)/i;
    fc.assert(
      fc.property(hostileText, (text) => {
        const job = sampleJob();
        const [prompt] = job.prompts;
        if (!prompt) throw new Error('the sample has no prompt');
        const error = { code: text, message: text, status: null, requestId: null, details: null };
        const page = renderJobReport({
          ...job,
          jobId: text,
          sandboxId: text,
          sandboxName: text,
          error,
          doing: [text, text],
          prompts: [{ ...prompt, prompt: text, result: text, error: text, status: text, resultRef: text }],
          files: [{ path: text, ref: 'ref', size: 1, sha256: null, error: text, partial: true, unchanged: null }],
          previews: new Map([['ref', text]]),
          wakes: job.wakes.map((wake) => ({ ...wake, event: text, waitedFor: text })),
        });
        for (const [tag] of page.matchAll(/<[a-z/!][^>]*>?/gi)) expect(tag).toMatch(known);
        expect(page).not.toMatch(/<[^>]*\s(?:src|style|on\w+)=/);
      }),
      { numRuns: 60 },
    );
  });
});

function sampleTimes(): NonNullable<JobReportData['times']> {
  const { times } = sampleJob();
  if (!times) throw new Error('the sample has no times');
  return times;
}
