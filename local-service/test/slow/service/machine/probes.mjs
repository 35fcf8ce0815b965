/**
 * Starts the built local service in a folder, tries what the table "Where it works" of docs/local-service.md names, and
 * prints an outcome for each row. `node probes.mjs FOLDER [plain]`; `plain` forbids bubblewrap.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { createLocalService } from '../../../../dist/local-service/src/index.js';

const [folder, mode] = process.argv.slice(2);
const apiKey = 'key-of-the-probes';
const isolation = mode === 'plain' ? 'plain' : 'auto';
const timings = { bootMs: 4, archiveMs: 4, hydrationMs: 0, deleteMs: 2 };
const outside = join(folder, 'outside');
writeFileSync(outside, 'seen');
const repository = join(folder, 'website.git');
const git = (...args) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
git('init', '-q', '-b', 'trunk', join(folder, 'work'));
git('-C', join(folder, 'work'), 'commit', '-q', '--allow-empty', '-m', 'Begin');
git('clone', '-q', '--bare', join(folder, 'work'), repository);

const repos = [
  { id: 8, fullName: 'acme/website', pushedAt: '2026-01-01T00:00:00Z', baseBranch: 'trunk', cloneUrl: repository },
];
const settings = { directory: join(folder, 'state'), apiKey, isolation, timings, repos };
let service = await open();

async function open(more = {}) {
  const opened = await createLocalService({ ...settings, ...more });
  await opened.listen();
  return opened;
}

async function call(method, path, body) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.message}`);
  return answer;
}

const run = async (id, command) => (await call('POST', `/sandboxes/${id}/commands`, { command })).stdout.trim();

async function reach(id, wanted) {
  for (;;) {
    const { sandbox } = await call('GET', `/sandboxes/${id}`);
    if (sandbox.state === wanted) return sandbox;
    if (sandbox.state === 'error') throw new Error(sandbox.error);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function ready(body = {}) {
  const { sandbox } = await call('POST', '/sandboxes', body);
  return await reach(sandbox.id, 'ready');
}

/** True if a process of this machine has the argument. */
function runs(argument) {
  return readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
    } catch {
      return false;
    }
  });
}

async function gone(argument) {
  while (runs(argument)) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function bySsh(id) {
  const keys = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
  const { sshEndpoint } = await call('POST', `/sandboxes/${id}/sshkey`, { publicKey: keys.public });
  const [host, port] = sshEndpoint.split(':');
  return await new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    client.once('error', reject);
    client.once('ready', () =>
      client.exec('echo works', (error, channel) => {
        if (error) return reject(error);
        channel.once('data', (data) => {
          resolve(String(data).trim());
          client.end();
        });
      }),
    );
    client.connect({ host, port: Number(port), username: 'user', privateKey: keys.private });
  });
}

/** What a server in the sandbox answers at the URL of its port. */
async function byUrl(id) {
  const listen = '$s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die; open($f, ">port.new");';
  const told = 'print $f $s->sockport; close $f; rename "port.new", "port";';
  const answer = 'print $c "HTTP/1.0 200 OK\\r\\n\\r\\nworks"';
  const serve = `while ($c = $s->accept) { while (<$c>) { last if /^\\s*$/ } ${answer}; close $c }`;
  await run(id, `perl -MIO::Socket::INET -e '${listen} ${told} ${serve}' >/dev/null 2>&1 &`);
  const port = await run(id, 'until [ -e port ]; do sleep 0.02; done; cat port');
  const url = new URL((await call('GET', `/sandboxes/${id}`)).sandbox.url);
  const headers = { host: `${port}-${url.host}` };
  return await new Promise((resolve, reject) => {
    const asked = { host: '127.0.0.1', port: url.port, path: `${url.pathname}${url.search}`, headers };
    get(asked, async (response) => {
      let text = '';
      for await (const piece of response) text += piece;
      resolve(response.statusCode === 200 ? text : `fails: ${response.statusCode} ${text}`);
    }).once('error', reject);
  });
}

/** Whether a program of the sandbox finds a display once the desktop was asked for. */
async function onDesktop(id) {
  try {
    await call('POST', `/sandboxes/${id}/desktop`, {});
  } catch (error) {
    if (/desktop/.test(error.message)) return 'no';
    throw error;
  }
  return (await run(id, 'timeout 60 xterm -e "echo works >display"; cat display')) || 'fails';
}

const { id } = await ready();
const { network, limits } = service.isolation;
const port = new URL(service.url).port;
const outcomes = { isolation: service.isolation.isolation };
const userId = await run(id, 'id -u');
outcomes['user of commands'] = userId === String(process.getuid()) ? 'that of the service' : userId;
outcomes['files of this machine'] = (await run(id, `cat ${outside} 2>&1`)) === 'seen' ? 'open' : 'hidden';
// The number of a process may also be in the table of the sandbox.
const seesProbe = `tr '\\0' '\\n' </proc/${process.pid}/cmdline 2>/dev/null | grep -c probes.mjs`;
outcomes['processes of this machine'] = (await run(id, seesProbe)) === '1' ? 'open' : 'hidden';
const connects = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo open || echo closed`;
outcomes['ports of this machine'] = await run(id, connects);
outcomes.internet = { internet: 'yes', none: 'no', host: 'as this machine' }[network.kind];
outcomes['limit of memory'] = { sandbox: 'per sandbox', process: 'per process', none: 'none' }[limits.memory];
outcomes['limit of processes'] = { sandbox: 'per sandbox', none: 'none' }[limits.processes];
outcomes['limit of the disk'] = (await run(id, 'ulimit -f')) === 'unlimited' ? 'none' : 'the reserve';

await run(id, 'sleep 97531 >/dev/null 2>&1 & echo $! >pid');
const lives = (await run(id, 'kill -0 "$(cat pid)" && echo lives')) === 'lives' && runs('97531');
outcomes.SSH = await bySsh(id);
outcomes['ports, at a URL'] = await byUrl(id);
outcomes.desktop = await onDesktop(id);
const sent = await call('POST', `/sandboxes/${id}/prompt`, { prompt: '```sh\necho works\n```' });
const answered = async () => (await call('GET', `/sandboxes/${id}/prompts/${sent.promptId}`)).prompt;
let prompt = await answered();
while (prompt.endedAt === null) prompt = await answered();
outcomes['built-in agent'] = prompt.result?.includes('works') ? 'works' : `fails: ${prompt.error}`;

service.setup.createEnvironment({ name: 'coding', repositories: [{ repositoryId: '8' }] });
const cloned = await ready({ environment: 'coding' });
outcomes.repositories = (await run(cloned.id, 'git -C website log --format=%s')) === 'Begin' ? 'works' : 'fails';

await service.close();
service = await open();
const kept = (await call('GET', `/sandboxes/${id}`)).sandbox.state === 'idle' && (await run(id, 'cat pid')) !== '';
await gone('97531');
outcomes['after a restart of the service'] = kept ? 'the disk, no process' : 'lost';

await run(id, 'echo kept >file; sleep 97532 >/dev/null 2>&1 &');
await call('POST', `/sandboxes/${id}/stop`);
await reach(id, 'archived');
await gone('97532');
outcomes['background processes'] = lives ? 'until the stop' : 'end with their command';
await call('POST', `/sandboxes/${id}/resume`, {});
await reach(id, 'ready');
outcomes['snapshots and restores'] = (await run(id, 'cat file')) === 'kept' ? 'works' : 'fails';
await service.close();

// The service asks for a permission where it does not isolate the program of an agent.
async function acceptsAgent(allowed) {
  const commandAgents = { codex: { command: 'cat', ...allowed } };
  try {
    await (await createLocalService({ directory: join(folder, 'other'), apiKey, commandAgents })).close();
    return true;
  } catch (error) {
    if (error.code === 'agent_not_isolated') return false;
    throw error;
  }
}
const accepts = mode !== 'plain' && (await acceptsAgent({}));
outcomes['command agents'] = accepts
  ? 'works'
  : (await acceptsAgent({ isolation: 'plain' }))
    ? 'if allowed'
    : 'refused';
process.stdout.write(`${JSON.stringify(outcomes)}\n`);
