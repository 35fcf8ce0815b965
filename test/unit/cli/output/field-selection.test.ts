import { afterEach, describe, expect, it } from 'vitest';
import { parseFields } from '../../../../src/cli/output/field-selection.js';
import { type JsonFields, jsonFields } from '../../../../src/cli/output/json-fields.js';
import { pickFields } from '../../../../src/cli/output/picked-fields.js';
import { aSandbox, createClosing, sendJson, startStand } from '../../../client/http-harness.js';
import { commandNames, grammarProblems } from '../../house/cli-grammar.js';
import { cli } from '../in-process.js';

const closing = createClosing();
afterEach(() => closing.closeAll());

const known: JsonFields = {
  fields: {
    id: true,
    stop: { status: true, kept: true },
    files: { path: true, size: true },
    labels: 'any',
    rows: { name: true, id: true },
  },
  inside: 'rows',
};
const document = {
  id: 'a',
  stop: { status: 'completed', kept: 'saved' },
  files: [{ path: 'x', size: 1 }, { path: 'y' }],
  labels: { team: 'web' },
  rows: [{ name: 'one', id: 1 }],
};
const picked = (text: string, value: object = document) => pickFields(value, parseFields(text, known));

describe('the fields of a document', () => {
  it.each([
    ['id', { id: 'a' }],
    ['stop.kept, id', { stop: { kept: 'saved' }, id: 'a' }],
    ['stop.kept,stop.status', { stop: { kept: 'saved', status: 'completed' } }],
    ['stop,stop.kept', { stop: document.stop }],
    ['stop.kept,stop', { stop: document.stop }],
    ['files.size', { files: [{ size: 1 }, { size: null }] }],
    ['labels.team,labels.none', { labels: { team: 'web', none: null } }],
    ['name', { rows: [{ name: 'one' }] }],
    ['rows.id', { rows: [{ id: 1 }] }],
  ])('%s keeps their places', (text, result) => {
    expect(picked(text)).toEqual(result);
  });

  it('that a document lacks are null', () => {
    expect(picked('id,stop.kept,name', { stop: null })).toEqual({ id: null, stop: null, rows: null });
  });

  it.each([
    ['idd', 'there is no field "idd". Did you mean id? Fields: name, id, stop, files, labels, rows.'],
    ['stop.key', 'there is no field "stop.key". Did you mean stop.kept? Fields of stop: status, kept.'],
    ['id.x', '"id.x": id has no fields'],
    ['constructor', 'there is no field "constructor"'],
    ['stop.__proto__', 'there is no field "stop.__proto__"'],
    ['id,', 'a name is empty'],
    ['', 'a name is empty'],
  ])('%j is refused', (text, message) => {
    expect(() => parseFields(text, known)).toThrow(message);
  });
});

describe('--fields', () => {
  const hasOption = (name: string, option: string) => grammarProblems([...name.split(' '), option]).length === 0;
  const withJson = commandNames().filter((name) => hasOption(name, '--json'));

  it('is an option of exactly the commands with --json, and every command names its fields', () => {
    expect(withJson.filter((name) => !hasOption(name, '--fields'))).toEqual([]);
    expect(Object.keys(jsonFields).sort()).toEqual(withJson.sort());
  });

  it.each(withJson)('of %s is checked before anything starts', async (name) => {
    const readConfig = () => Promise.reject(new Error('the settings were read'));
    const { exitCode, stderr } = await cli([...name.split(' '), '--fields', 'nosuch'], { readConfig });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('there is no field "nosuch"'),
    });
    const help = await cli([...name.split(' '), '--help'], { readConfig });
    expect(help.stdout).toMatch(/^Fields:\n {2}\w+/m);
  });

  it('leaves the next argument alone', async () => {
    const stand = closing.keep(
      await startStand((_, response) => sendJson(response, 200, { ok: true, sandbox: aSandbox })),
    );
    const env = { SANDBOX_API_URL: stand.url, SANDBOX_API_KEY: 'key' };
    const whole = await cli(['sandboxes', 'show', '--json', aSandbox.id], { env });
    expect(JSON.parse(whole.stdout)).toMatchObject({ sandbox: { id: aSandbox.id }, error: null });
    const some = await cli(['sandboxes', 'show', '--fields', 'id,state', aSandbox.id], { env });
    expect(JSON.parse(some.stdout)).toEqual({ sandbox: { id: aSandbox.id, state: aSandbox.state } });
  });

  it('is named to whoever gives --json the fields, as gh takes them', async () => {
    const { exitCode, stderr } = await cli(['jobs', 'list', '--json', 'jobId,outcome']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('use --fields jobId,outcome.');
  });

  it('chooses from the rows of a list', async () => {
    const answer = { ok: true, sandboxes: [aSandbox] };
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, answer)));
    const env = { SANDBOX_API_URL: stand.url, SANDBOX_API_KEY: 'key' };
    const { stdout } = await cli(['sandboxes', '--fields', 'id,sandboxes.name,error'], { env });
    expect(JSON.parse(stdout)).toEqual({
      sandboxes: [{ id: aSandbox.id, name: aSandbox.name ?? null }],
      error: null,
    });
  });

  it('applies to failures as well', async () => {
    const { exitCode, stdout } = await cli(['run', '--fields', 'outcome,error.code']);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ outcome: null, error: { code: 'bad_usage' } });
  });
});
