/** What people get wrong: each is answered before anything starts, with what is wrong and how to mend it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { cli } from './in-process.js';
import { temporaryDirectory } from './temporary-directory.js';

let cwd: string;
beforeEach(async () => {
  cwd = await temporaryDirectory();
  for (const folder of ['folder', 'other']) await mkdir(join(cwd, folder));
  const files = {
    'prompts.txt': 'first\nsecond\n',
    'empty.md': '',
    'task.md': 'Say hello\n',
    'binary.md': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0]),
    'issues.csv': 'issue,file\ncrash,a.ts\n',
    'bad.jsonl': '{"prompt": "a", "effort": "huge"}\n',
    'away.jsonl': '{"prompt": "a", "get": "../x"}\n',
    'folders.jsonl': '{"prompt": "a", "get": ["out", "{a,b}.md"]}\n',
    'gets.jsonl': '{"prompt": "a", "get": "b"}\n',
    'long.jsonl': '{"prompt": "a", "deadline": "999d"}\n',
    'long-model.jsonl': `${JSON.stringify({ prompt: 'a', model: long })}\n`,
    'binary.yaml': Buffer.from([0xff, 0xfe, 0x61]),
    'burn.yaml': 'rules:\n  - rule: a\n    action: burn\n',
    'typo.yaml': 'rules:\n  - rule: a\n    action: stop\n    mach: {}\n',
    'empty.yaml': '',
    'job.yaml': 'prompt: hello\n',
    'batch.yaml': 'items: [hello]\n',
    'tpye.yaml': 'prompt: hello\ntpye: large\n',
    'nosuch-prompt.yaml': 'prompt: "@nosuch.md"\n',
    'saves.yaml': 'prompt: hello\nget: out.md:here.md\n',
    'saves-items.yaml': 'items: [hello]\nget: out.md:here.md\n',
    'night.yaml': 'windows: [{between: "01:00 and 05:00"}]\nrules: [{rule: a, action: stop}]\n',
    'config.json': '{"timings": {"archiveMs": "soon"}}',
    'broken.json': '{"timings": ',
    'list.json': '[]',
    'other/results.jsonl': '{"batchId":"nightly","itemId":"1"}\n',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content);
});

/** Nothing listens there: a command that asks Temporal or the service would exit with 3. */
const env = { TEMPORAL_ADDRESS: '127.0.0.1:9', SANDBOX_API_URL: 'http://127.0.0.1:9/v1', SANDBOX_API_KEY: 'key' };

const long = 'm'.repeat(201);
/** Stands for words that would make a title unreadable. */
const expanded = (words: string) =>
  words.replaceAll('LONG', long).replace(/THOUSAND(--\w+)/, (_, flag: string) => ` ${flag} x`.repeat(1_001).trim());

/** The words of the command line, and a part of what is wrong or of how to mend it. */
const wrong: readonly (readonly [words: string, ...texts: string[]])[] = [
  // The names of commands and options
  ['rum hello', "Unknown command 'rum'", 'Did you mean run?'],
  ['job list', "Unknown command 'job'", 'Did you mean jobs?'],
  ['logs fence', "Unknown command 'logs'", 'Did you mean: sandflow jobs logs fence, or sandflow fanout logs fence?'],
  ['ps', "Unknown command 'ps'", 'Did you mean: sandflow jobs list, or sandflow fanout list?'],
  ['rerun fence --detach', "Unknown command 'rerun'", 'Did you mean: sandflow jobs rerun fence?'],
  ['jobs lst', "Unknown command 'lst'", 'Did you mean list?'],
  ['jobs', 'sandflow jobs'],
  ['jobs show bx_2345abcd', 'is a sandbox, not a job. To see it: sandflow sandboxes show bx_2345abcd'],
  ['fanout show bx_2345abcd', 'is a sandbox, not a batch. To see it: sandflow sandboxes show bx_2345abcd'],
  ['stops explian bx_2345abcd', 'Did you mean explain?'],
  ['schedule paus nightly', 'Did you mean pause?'],
  ['help nosuch', 'nosuch'],
  ['up --ready-json', '--ready-json needs --foreground'],
  ['fanout lst', 'The items file lst does not exist'],
  ['sandboxes shwo', 'Too many arguments', 'See sandflow sandboxes --help.'],
  ['run --provder codex x', 'Did you mean --provider?'],
  ['run --colour red x', "Unknown option '--colour'", 'See sandflow run --help.'],
  ['run x --effort extreme', 'Allowed choices are none, low, medium, high, xhigh, max'],
  ['run x --type huge', 'Allowed choices are small, default, large, xlarge'],
  ['run x --end burn', 'Allowed choices are stop, delete, keep'],
  ['run x --wait-for coffee', 'Allowed choices are usable, hydrated'],
  ['run x --on-unknown pray', 'Allowed choices are wait, abandon, resend'],
  ['run x --id', "Option '--id <job>' argument missing", 'See sandflow run --help.'],
  ['jobs show BAD', 'The job id "BAD" must be lower-case letters and digits'],
  ['fanout show a_b', 'The batch id "a_b" must be lower-case letters and digits'],
  ['jobs show', "Missing required argument 'job'", 'See sandflow jobs show --help.'],
  ['jobs prompt one', "Missing required argument 'prompt'"],
  ['jobs show one two', 'Too many arguments'],
  // Prompts
  ['run', 'No prompt given. If stdin has it, use -: sandflow run -. Pass text, a file, or - for stdin'],
  ['run ./folder', './folder is a folder, not a prompt file'],
  ['run missing.md', 'The prompt file missing.md does not exist'],
  ['run missing.sh', 'The prompt file missing.sh does not exist. To send this as text, use --prompt.'],
  ['run Say hello', '"Say" would be a prompt of its own. Put quotes around each prompt: sandflow run "Say hello".'],
  ['run folder', 'folder is a folder, not a prompt file'],
  ['run --prompt @none', '--prompt: the file none cannot be read.'],
  ['run empty.md', 'empty.md', 'empty'],
  ['run binary.md', 'binary.md'],
  ['jobs prompt one missing.md', 'The prompt file missing.md does not exist', 'pass it on stdin (-)'],
  // Ids and what belongs together
  ['run x --id Bad_Id', '--id: the job id "Bad_Id" must be lower-case letters and digits'],
  ['run x --again', '--again requires --id'],
  ['run x --reuse', '--reuse requires --id'],
  ['run x --id a --again --reuse', 'Use --again or --reuse, not both.'],
  ['run x --sandbox bx_1', '--sandbox: "bx_1" is not a sandbox id, like bx_2345abcd'],
  [
    'run x --sandbox bx_nope0000',
    '--sandbox: "bx_nope0000" is not a sandbox id, like bx_2345abcd: no id has the character o.',
  ],
  ['stop bx_234510ab', '"bx_234510ab" is not a sandbox id: no id has the character 1. `sandflow sandboxes` lists'],
  ['run x --fork machine', '--fork: "machine" is not a sandbox id, like bx_2345abcd'],
  ['run x --sandbox bx_2345abcd --fork bx_2345abcd', 'Use --sandbox or --fork, not both.'],
  ['run x --sandbox bx_2345abcd --from base', '--from cannot be used with --sandbox'],
  ['run x --fork bx_2345abcd --setup ls', '--setup cannot be used with --fork'],
  ['run x --conversation c1', '--conversation requires --sandbox or --fork'],
  ['run x --label team', '--label: "team" is not a label. Use name=value, like team=search.'],
  ['run x --notify me', '--notify must be a URL'],
  ['jobs watch Bad_Id', 'The job id "Bad_Id" must be'],
  ['jobs cancel Bad_Id', 'The job id "Bad_Id" must be'],
  ['jobs resolve one', 'Use exactly one of --sent, --resend and --abandon.'],
  ['jobs resolve one --sent --abandon', 'Use exactly one of'],
  ['jobs resolve one --abandon --sandbox bx_2345abcd', 'require --sent'],
  ['jobs list --limit all', '--limit must be a whole number from 1 to 10000, not "all"'],
  ['jobs list --since yesterday', '--since: "yesterday" is neither a duration', '2026-03-17'],
  ['jobs list --label team', '--label: "team" is not a label'],
  ['sandboxes show bx_1', '"bx_1" is not a sandbox id'],
  ['stops explain bx_1', '"bx_1" is not a sandbox id. `sandflow sandboxes` lists them.'],
  // Durations and sizes
  ['run x --ttl long', '--ttl: "long" is not a duration. Use a value like 90s'],
  ['run x --ttl 999d', '--ttl: 999d is too long. The limit is 732d.'],
  ['run x --deadline 999d', '--deadline: 999d is too long. The limit is 732d.'],
  ['run x --deadline 0s', '--deadline: 0s is too short'],
  ['jobs list --since 9999999999999999d', '--since: 9999999999999999d is too long. The limit is 36525d.'],
  ['run x --deadline 30', '--deadline: "30" is not a duration'],
  ['run x --watch-deadline 30d', '--watch-deadline: 30d is too long. The limit is 24d.'],
  ['stop bx_2345abcd --deadline 999d', '--deadline: 999d is too long'],
  ['stop bx_2345abcd --alert-after 2h --deadline 1h', '--alert-after must be shorter than --deadline'],
  ['stop', 'Name the sandboxes to stop, or use --all.'],
  ['stop bx_2345abcd --all', 'Name sandboxes or use --all, not both.'],
  ['stop bx_2345abcd --name try-*', '--name requires --all.'],
  // Files
  ['run x --put none:there', '--put: none cannot be read. Check that it exists and is readable.'],
  ['run x --put task.md:', '--put must be LOCAL or LOCAL:REMOTE'],
  ['run x --put task.md:../../etc/passwd', "leads out of the sandbox's working directory", 'without ".."'],
  ['run x --get ../x', "--get: ../x leads out of the sandbox's working directory"],
  ['run x --get out/', '--get: out/ is a folder. Name each file in it, like out/report.csv.'],
  ['run x --get out/*.txt', '--get: out/*.txt is a pattern, which is not expanded. Name each file'],
  ['jobs watch one --get out/.', '--get: out/. is a folder.'],
  ['fanout prompts.txt --get a:x --get b:x', '--get: a and b would both be saved as x. Give each its own local path.'],
  ['fanout watch one --get a:x --get b:x/y', '--get: a and b: x would be a file and a folder.'],
  ['fanout resume one --get a:/x', '--get: /x leads out of the folder of the item.'],
  ['fanout prompts.txt --get a:changes.patch --get-diff=app', 'would both be saved as changes.patch.'],
  ['fanout gets.jsonl --get a:b', 'gets.jsonl:1: get: a and b would both be saved as b.'],
  ['fanout prompts.txt --get out/', '--get: out/ is a folder.'],
  ['fanout folders.jsonl', 'folders.jsonl:1: get: {a,b}.md is a pattern, which is not expanded.'],
  ['run x --get a/x --get b/x', 'would both be saved as x. Give each its own local path.'],
  ['run x --get a:task.md/a', '--get: task.md/a cannot be saved: ', 'is a file, not a folder'],
  ['jobs watch one --get a:task.md/a', '--get: task.md/a cannot be saved: '],
  ['jobs rerun one --get a:task.md/a', '--get: task.md/a cannot be saved: '],
  ['run x --get-diff=app:task.md/a', '--get: task.md/a cannot be saved: '],
  ['run x --get a:none/LONGLONG --end delete', '--get: none/mmm', 'its name is too long'],
  ['run x --setup @none', '--setup: the file none cannot be read'],
  ['run --get-diff hello', '--get-diff: "hello" could be its folder, or a prompt or a file', 'Write --get-diff=hello'],
  ['run first --get-diff -', 'Put prompts and files before --get-diff.'],
  ['run x --get-diff=', '--get-diff must be FOLDER or FOLDER:LOCAL'],
  // Batches
  ['fanout --get-diff prompts.txt', '--get-diff: "prompts.txt" could be its folder', 'Write --get-diff=prompts.txt'],
  ['fanout prompts.txt --get-diff app', 'Write --get-diff=app for a folder.'],
  ['fanout --get-diff=prompts.txt', 'No items given. If stdin has it, use -: sandflow fanout -.'],
  ['fanout prompts.txt --get-diff=app:a.patch', '--get-diff must be a folder, like app, not "app:a.patch".'],
  ['fanout prompts.txt --get-diff=../x', "--get-diff: ../x leads out of the sandbox's working directory"],
  ['fanout nosuch.txt', 'The items file nosuch.txt does not exist'],
  ['fanout folder', 'folder is not a file. Use a file of prompts'],
  ['fanout prompts.txt --get ../x', "--get: ../x leads out of the sandbox's working directory"],
  ['fanout away.jsonl', 'away.jsonl:1: get: ../x leads out', 'Use a path without "..", like out/report.csv.'],
  ['fanout long.jsonl', 'long.jsonl:1: deadline: 999d is too long. The limit is 732d.'],
  ['fanout bad.jsonl', 'bad.jsonl:1: effort: must be none, low, medium, high, xhigh or max, not "huge"'],
  ['fanout issues.csv', 'issues.csv:1: the column prompt is missing'],
  ['fanout prompts.txt --source bx_2345abcd --snapshot base', 'Use --source or --snapshot, not both.'],
  ['fanout prompts.txt --source machine', '--source: "machine" is not a sandbox id'],
  ['fanout prompts.txt --allow-stale', '--allow-stale requires --source.'],
  ['fanout prompts.txt --first 9', '--first 9: there are only 2 items. Use at most --first 2.'],
  ['fanout prompts.txt --first 1 --fail-fast', 'Use --first or --fail-fast, not both.'],
  ['fanout prompts.txt --concurrency 0', '--concurrency must be a whole number from 1 to 2000, not "0"'],
  ['fanout prompts.txt --ttl 999d', '--ttl: 999d is too long. The limit is 732d.'],
  ['fanout prompts.txt --model a,,b', '--model: a value is empty'],
  ['fanout show Bad_Id', 'The batch id "Bad_Id" must be lower-case'],
  ['fanout prompts.txt --out task.md', '--out: task.md is a file. Choose a folder.'],
  ['fanout prompts.txt --out task.md/a', '--out: task.md/a cannot be saved: ', 'is a file, not a folder'],
  ['fanout prompts.txt --out none/LONGLONG', '--out: none/mmm', 'its name is too long'],
  ['fanout watch one --out task.md', '--out: task.md is a file. Choose a folder.'],
  ['fanout resume one --out task.md', '--out: task.md is a file. Choose a folder.'],
  // Values that are empty, as of a variable that is not set
  ['run x --model=', '--model has an empty value. Give it a value, or leave it out.'],
  ['run x --from=', '--from has an empty value'],
  ['fanout prompts.txt --source=', '--source has an empty value'],
  ['stop --all --name=', '--name has an empty value'],
  ['jobs list --since=', '--since has an empty value'],
  // Values that the input of a job or batch does not take: the option is named, and not the field that it sets
  ['run x --model LONG', '--model: must have at most 200 characters'],
  ['run x --environment=LONG', '--environment: must have at most 200 characters'],
  ['run x --from LONG', '--from: must have at most 200 characters'],
  ['run x --sandbox bx_2345abcd --conversation LONG', '--conversation: must have at most 200 characters'],
  [
    'run x --notify https://example.com/LONGLONGLONGLONGLONGLONGLONGLONGLONGLONG',
    '--notify: must have at most 2000 characters.',
  ],
  ['run THOUSAND--prompt', 'the prompts: must have at most 1000 entries.'],
  ['run x --label team=LONG', '--label: team: must have at most 200 characters.'],
  ['jobs rerun one --id X', '--id: the job id "X" must be lower-case letters and digits'],
  ['jobs rerun one --id one', '--id: the new job needs another id than the earlier one, one.'],
  ['continue one hello --id one', '--id: the new job needs another id than the earlier one, one.'],
  ['continue One hello', 'The job id "One" must be lower-case letters and digits'],
  ['continue one gone.md', 'The prompt file gone.md does not exist.'],
  ['fanout prompts.txt --snapshot LONG', '--snapshot: must have at most 200 characters'],
  ['fanout prompts.txt --title LONG', '--title: must have at most 200 characters'],
  ['fanout prompts.txt --budget 1h --end keep', '--end: must be stop or delete if there is a budget'],
  ['fanout prompts.txt THOUSAND--command', '--command: must have at most 1000 entries.'],
  ['fanout long-model.jsonl', 'long-model.jsonl:1: model: must have at most 200 characters'],
  ['run x --no-env --environment dev', 'Use --environment or --no-env, not both.'],
  ['run -1.md', "Unknown option '-1.md'.", 'See sandflow run --help.'],
  ['run x --detach --watch-deadline 5s', 'Use --detach or --watch-deadline, not both'],
  ['jobs rerun one --detach --watch-deadline 5s', 'Use --detach or --watch-deadline, not both'],
  ['fanout prompts.txt --detach --watch-deadline 5s', 'Use --detach or --watch-deadline, not both'],
  ['fanout resume one --detach --watch-deadline 5s', 'Use --detach or --watch-deadline, not both'],
  // Results that cannot be saved, and files that are not text
  ['run x --get out/task.md', '--get: task.md exists already.', 'to replace: --get out/task.md:task.md'],
  ['continue one x --get out/task.md', '--get: task.md exists already.'],
  ['jobs rerun one --get a/task.md:./', '--get: ./task.md exists already.'],
  ['fanout prompts.txt --out other', '--out: other has the results of the batch nightly. Choose another folder.'],
  ['fanout watch one --out other', '--out: other has the results of the batch nightly. Choose another folder.'],
  ['fanout report one --out folder', '--out: folder is a folder. Choose a file in it, like folder/report.html.'],
  ['fanout report one --out folder/LONGLONG', '--out: folder/mmm', 'its name is too long'],
  ['fanout report one --out task.md/a', '--out: task.md/a cannot be saved: ', 'is a file, not a folder'],
  ['cleanup validate binary.yaml', 'The policy binary.yaml is UTF-16. Save it as UTF-8.'],
  // Cleanups
  ['cleanup plan nosuch.yaml', 'The policy nosuch.yaml cannot be read. Check that it exists'],
  [
    'cleanup run burn.yaml',
    'rules[0].action: must be stop, escalate, delete-sandbox, delete-snapshot or keep, not "burn"',
  ],
  ['cleanup validate typo.yaml', 'typo.yaml:4: rules[0].mach: unknown field; the fields are rule, match'],
  ['cleanup validate empty.yaml', 'rules: is missing'],
  ['schedule add nights', 'Missing required argument'],
  ['schedule add nights jobs', '"jobs" is not a YAML file. A schedule runs the file of a job, a batch or a cleanup'],
  ['schedule add nights job.yaml', '--cron is missing. Say when the schedule runs'],
  ['schedule add Nights job.yaml --cron @daily', 'must be lower-case letters and digits'],
  ['schedule add nightly-of-all-teams job.yaml --cron @daily', 'the ids of its runs add a time'],
  ['schedule add nights batch.yaml --cron @daily --zone Mars', '--zone: "Mars" is not a time zone'],
  ['schedule add nights job.yaml --cron TZ=UTC', '--cron must not name a time zone. Use --zone.'],
  ['schedule add nights night.yaml --zone UTC', '--zone requires --cron'],
  ['schedule add nights job.yaml --cron @daily --jitter soon', '--jitter: "soon" is not a duration'],
  ['schedule add nights job.yaml --cron @daily --jitter 2d', '--jitter: 2d is too long. The limit is 1d'],
  ['schedule add nights job.yaml --cron @daily --catch-up 1s', '--catch-up must be at least 10s'],
  ['schedule add nights saves.yaml --cron @daily', 'a schedule saves no files on this machine'],
  ['schedule add nights saves-items.yaml --cron @daily', 'sandflow fanout watch BATCH --get out.md:here.md'],
  ['schedule add nights tpye.yaml --cron @daily', 'tpye.yaml:2: tpye: unknown field; the fields are prompt, provider'],
  ['schedule add nights nosuch-prompt.yaml --cron @daily', 'the file nosuch.md cannot be read'],
  ['schedule add nights burn.yaml --cron @daily', 'rules[0].action: must be stop, escalate'],
  ['schedule add nights nosuch.yaml --cron @daily', 'The job file nosuch.yaml cannot be read'],
  // Files of jobs and batches
  ['run tpye.yaml', 'tpye.yaml:2: tpye: unknown field'],
  ['run tpye.yaml', 'To send the file itself as the prompt: sandflow run @tpye.yaml.'],
  ['run nosuch.yaml', 'The job file nosuch.yaml cannot be read'],
  ['run job.yaml hello', 'job.yaml holds a job with its prompt. Give it alone.'],
  ['run binary.yaml', 'The job file binary.yaml is UTF-16. Save it as UTF-8.'],
  ['fanout job.yaml', 'job.yaml:1: items: is missing'],
  ['fanout batch.yaml prompts.txt', 'batch.yaml holds a batch with its items. Give it alone.'],
  ['run job.yaml --conversation c', '--conversation requires --sandbox or --fork: a new sandbox has no conversation.'],
  ['schedule backfill nights --from yesterday', '--from: "yesterday" is not a time'],
  ['schedule backfill nights --from 2026-11-20 --to 2026-11-19', '--from must not be after --to'],
  ['schedule apply nosuch.yaml', 'nosuch.yaml cannot be read'],
  // Servers and the service
  ['local --port 70000', '--port: "70000" is not a port'],
  ['local --config nosuch.json', '--config: ', 'cannot be read. Check that it exists and is readable.'],
  ['local --config broken.json', 'is not valid JSON'],
  ['local --config config.json', 'timings.archiveMs: must be a number, not "soon"'],
  ['local seed list.json', 'list.json is not a JSON object. It must be a seed file, like examples/seed.json.'],
  ['local seed task.md', 'task.md is not valid JSON. It must be a seed file, like examples/seed.json.'],
  ['bridge --port http', '--port: "http" is not a port'],
  ['bridge --metrics 127.0.0.1:99999', '--metrics: "127.0.0.1:99999" is not an address'],
  ['worker --metrics :99999', '--metrics: ":99999" is not an address, like 127.0.0.1:9464.'],
  ['worker --health 9466', '--health: "9466" is not an address, like 127.0.0.1:9464.'],
  ['webhooks connect --url bridge', '--url: "bridge" is not a URL, like https://'],
  ['webhooks delete evt_1', '"evt_1" is not a webhook id. `sandflow webhooks list` lists them.'],
  ['api GET', "Missing required argument 'path'"],
  ['api GET /sandboxes --timeout soon', '--timeout: "soon" is not a duration'],
];

/** Words of parsers, of the system and of code, which tell a person nothing. */
const raw =
  /Invalid input|Invalid option|Too (?:big|small)|undefined|\[object|E[A-Z]{4,}:|\n\s+at |^error: [a-z]+[A-Z]\w*: /;

describe('a wrong usage', () => {
  it('is one of at least 80', () => {
    expect(new Set(wrong.map(([words]) => words)).size).toBeGreaterThanOrEqual(80);
  });

  it.each(wrong)('sandflow %s', async (words, ...texts) => {
    const { exitCode, stdout, stderr } = await cli(expanded(words).split(' '), { cwd, env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    for (const text of texts) expect(stderr).toContain(text);
    expect(stderr).not.toMatch(raw);
  });
});
