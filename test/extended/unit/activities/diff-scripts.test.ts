/** The scripts that collect a patch, run by a shell in real repositories, honest and hostile ones. */
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  changedFilesOf,
  hasId,
  messageOf,
  readBase,
  readContent,
  readDiffAnswer,
  readPatchHead,
} from '../../../../activities/sandbox/diff-answer.js';
import {
  baseText,
  patchPieceBytes,
  patchPieceText,
  patchRemovalText,
  patchText,
} from '../../../../activities/sandbox/diff-script.js';

const run = promisify(execFile);
const hasGit = spawnSync('git', ['--version']).status === 0;
const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

let folder: string;
let repository: string;
let owner: string;
let HOME: string;
beforeAll(async () => {
  HOME = await mkdtemp(join(tmpdir(), 'sandflow-diff-home-'));
});
afterAll(() => rm(HOME, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandflow-diff-'));
  repository = join(folder, 'app');
  owner = `test-${randomBytes(8).toString('hex')}`;
  await mkdir(repository);
  return async () => {
    await sh(patchRemovalText(owner));
    await rm(folder, { recursive: true, force: true });
  };
});

async function sh(command: string, cwd = folder): Promise<string> {
  const { stdout } = await run('/bin/sh', ['-c', command], { cwd, env: { ...env, HOME }, maxBuffer: 1e8 });
  return stdout;
}
const git = async (...args: string[]) =>
  (await run('git', args, { cwd: repository, env: { ...env, HOME }, maxBuffer: 1e8 })).stdout.trim();
const write = async (name: string, content: string | Buffer) => writeFile(join(repository, name), content);

const many = Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join('');

/** A repository with one commit of many kinds of files. */
async function begin(...init: string[]): Promise<void> {
  await git('init', '-q', ...init);
  await mkdir(join(repository, 'sub'));
  await write('kept.txt', many);
  await write('sub/inner.txt', 'inner\n');
  await write('moved.txt', `${many}to be moved\n`);
  await write('gone.txt', 'gone\n');
  await write('crlf.txt', 'a\r\nb\r\n');
  await write('tool.sh', 'echo\n');
  await write('picture.bin', Buffer.from([0, 1, 2, 3, 0xff]));
  await write('latin1.txt', Buffer.from('caf\xe9\n', 'latin1'));
  await write('.gitignore', 'ignored/\n');
  await symlink('kept.txt', join(repository, 'link'));
  await git('add', '-A');
  await git('commit', '-q', '-m', 'base');
}

/** Edits of all kinds: committed, staged, not staged, not tracked. */
async function edit(): Promise<void> {
  await write('kept.txt', `${many}committed\n`);
  await git('commit', '-q', '-am', 'first');
  await rename(join(repository, 'moved.txt'), join(repository, 'sub', 'moved too.txt'));
  await write('staged.txt', 'staged\n');
  await git('add', 'staged.txt');
  await rm(join(repository, 'gone.txt'));
  await write('crlf.txt', 'a\r\nb\r\nc\r\n');
  await chmod(join(repository, 'tool.sh'), 0o755);
  await write('picture.bin', Buffer.from([0x89, 0, 0xff, ...randomBytes(3_000)]));
  await write('latin1.txt', Buffer.from('th\xe9\n', 'latin1'));
  await rm(join(repository, 'link'));
  await symlink('sub/moved too.txt', join(repository, 'link'));
  await write('a "quoted" näme\twith\nall.txt', 'x');
  await write('-rf', 'no new line at the end');
  await write('sub/日本語.txt', 'unicode\n');
  await mkdir(join(repository, 'ignored'));
  await write('ignored/secret.txt', 'not in the patch\n');
}

async function baseOf(path = repository, mayHavePrompted = false) {
  const answer = readDiffAnswer(await sh(baseText({ path, owner, mayHavePrompted })));
  if (answer?.word !== 'base') return { word: answer?.word, message: answer && messageOf(answer) };
  return readBase(answer);
}

async function patchFrom(base: string | null, root = repository) {
  const answer = readDiffAnswer(await sh(patchText({ owner, repository: root, base })));
  if (answer?.word !== 'patch') return { word: answer?.word, message: answer && messageOf(answer) };
  return readPatchHead(answer);
}

async function recorded(): Promise<string | null> {
  const base = await baseOf();
  if (!base || !('commit' in base)) throw new Error(`no base: ${JSON.stringify(base)}`);
  return base.commit;
}

async function collected(base: string | null): Promise<Buffer> {
  const head = await patchFrom(base);
  if (!head || !('content' in head) || !head.content) throw new Error(`no patch: ${JSON.stringify(head)}`);
  let { content } = head;
  for (let at = 0; head.size > patchPieceBytes && at < head.size; at += patchPieceBytes) {
    const piece = readDiffAnswer(await sh(patchPieceText(owner, head.id, at)));
    content = Buffer.concat([content, (piece && readContent(piece)) ?? Buffer.alloc(0)]);
  }
  expect(hasId(content, head.id)).toBe(true);
  return content;
}

/** Applies the patch to a fresh clone of the base, and compares all files, modes and links with the repository. */
async function proves(patch: Buffer, base: string | null, without = ['.git', 'ignored']): Promise<void> {
  const fresh = join(folder, 'fresh');
  await writeFile(join(folder, 'changes.patch'), patch);
  await (base === null
    ? sh('git init -q fresh')
    : sh(`git clone -q --no-checkout app fresh && git -C fresh checkout -q ${base}`));
  await sh('git apply --check ../changes.patch && git apply ../changes.patch', fresh);
  const list = `tar --sort=name ${without.map((name) => `--exclude=./${name}`).join(' ')} --mtime=@0 --owner=0 --group=0 -cf - . | sha256sum`;
  expect(await sh(list, fresh)).toBe(await sh(list, repository));
}

const stateOf = () =>
  sh('git status --porcelain=v2 -z; sha256sum .git/index .git/config; find .git | sort', repository);

describe.skipIf(!hasGit)('the patch of a repository', () => {
  it('has commits, index, working tree and untracked files of every kind, and applies to the base', async () => {
    await begin();
    const base = await recorded();
    await edit();
    const before = await stateOf();
    const patch = await collected(base);
    expect(await stateOf()).toBe(before);
    expect(changedFilesOf(patch)).toBe(12);
    const text = patch.toString('latin1');
    expect(text).toContain('rename from moved.txt');
    expect(text).toContain('new mode 100755');
    expect(text).not.toContain('secret');
    await proves(patch, base);
  });

  it('is the same, whatever the configuration, the attributes and the hooks of the repository ask for', async () => {
    await begin();
    const base = await recorded();
    await edit();
    const honest = await collected(base);
    const trap = join(folder, 'trap');
    await writeFile(trap, `#!/bin/sh\ntouch '${folder}/sprung'\nexit 1\n`, { mode: 0o755 });
    const settings = {
      'core.fsmonitor': trap,
      'core.hooksPath': folder,
      'core.worktree': '/',
      'core.bare': 'true',
      'core.pager': trap,
      'core.safecrlf': 'true',
      'core.splitIndex': 'true',
      'core.untrackedCache': 'true',
      'core.checkStat': 'minimal',
      'core.quotePath': 'false',
      'color.ui': 'always',
      'color.diff': 'always',
      'diff.external': trap,
      'diff.noprefix': 'true',
      'diff.mnemonicPrefix': 'true',
      'diff.renames': 'false',
      'diff.context': '0',
      'diff.orderFile': '/no/such/file',
      'diff.relative': 'true',
      'diff.submodule': 'log',
      'diff.ignoreSubmodules': 'all',
      'diff.wsErrorHighlight': 'all',
      'diff.algorithm': 'patience',
      'diff.evil.textconv': trap,
      'diff.evil.command': trap,
      'diff.evil.xfuncname': '(((',
      'filter.evil.clean': trap,
      'filter.evil.process': trap,
      'filter.evil.required': 'true',
      'filter.a=b"c.clean': trap,
      'add.ignoreErrors': 'false',
      'include.path': '/no/such/file',
      'alias.add': `!${trap}`,
    };
    for (const [key, value] of Object.entries(settings)) await git('config', key, value);
    await mkdir(join(repository, '.git', 'info'), { recursive: true });
    await writeFile(join(repository, '.git', 'info', 'attributes'), '* diff=evil filter=evil -text\n');
    await sh(
      `cp ${trap} .git/hooks/post-index-change; cp ${trap} post-index-change; cp ${trap} .git/hooks/pre-commit`,
      repository,
    ).catch(() => undefined);
    await rm(join(repository, 'post-index-change'), { force: true });
    const head = await patchFrom(base);
    expect(head).toMatchObject({ missed: null, filters: expect.stringContaining('evil') });
    expect(head && 'content' in head && head.content?.equals(honest)).toBe(true);
    await expect(readFile(join(folder, 'sprung'))).rejects.toThrow('ENOENT');
  });

  it('shows a change that the index hides', async () => {
    await begin();
    const base = await recorded();
    await git('update-index', '--assume-unchanged', 'kept.txt');
    await git('update-index', '--skip-worktree', 'gone.txt');
    await write('kept.txt', 'changed\n');
    await write('gone.txt', 'news\n');
    await utimes(join(repository, 'gone.txt'), 0, 0);
    const patch = await collected(base);
    expect(changedFilesOf(patch)).toBe(2);
    await proves(patch, base);
  });

  it.each([
    ['an amended commit', 'echo x >>kept.txt; git commit -q --amend -am amended'],
    ['another branch', 'git checkout -q -b other; echo x >>kept.txt; git commit -q -am x; git checkout -q --detach'],
    [
      'a rebased, squashed history',
      'echo x >>kept.txt; git commit -q -am x; git reset -q --soft HEAD~1 2>/dev/null; git commit -q --allow-empty -am y; git checkout -q --orphan new; git commit -q -m all',
    ],
    [
      'a merge with conflicts',
      'git checkout -q -b a; echo a >gone.txt; git commit -q -am a; git checkout -q -b b HEAD~1; echo b >gone.txt; git commit -q -am b; git merge -q a || true',
    ],
    ['a lock that a killed git left', 'echo x >>kept.txt; touch .git/index.lock'],
    ['a damaged index', 'echo x >>kept.txt; echo garbage >.git/index'],
  ])('counts from the base after %s', async (_, commands) => {
    await begin();
    const base = await recorded();
    await sh(`${commands}`, repository);
    const patch = await collected(base);
    expect(patch.byteLength).toBeGreaterThan(0);
    await proves(patch, base);
  });

  it('has everything after the first commit of an empty repository, also with SHA-256', async () => {
    for (const format of ['sha1', 'sha256']) {
      await rm(repository, { recursive: true });
      await rm(join(folder, 'fresh'), { recursive: true, force: true });
      await sh(patchRemovalText(owner));
      await mkdir(repository);
      await git('init', '-q', `--object-format=${format}`);
      const base = await recorded();
      expect(base).toBeNull();
      await write('one.txt', '1\n');
      await git('add', '.');
      await git('commit', '-q', '-m', 'one');
      await write('two.txt', '2\n');
      await proves(await collected(base), base);
    }
  });

  it('applies in a repository with SHA-256', async () => {
    await begin('--object-format=sha256');
    const base = await recorded();
    await edit();
    await proves(await collected(base), base);
  });

  it('is empty without changes', async () => {
    await begin();
    expect(await patchFrom(await recorded())).toMatchObject({ size: 0, missed: null, content: Buffer.alloc(0) });
  });

  it('comes in pieces if it is long, and nothing stays in the sandbox after the removal', async () => {
    await begin();
    const base = await recorded();
    await write('big.bin', randomBytes(3 * patchPieceBytes));
    const patch = await collected(base);
    expect(patch.byteLength).toBeGreaterThan(3 * patchPieceBytes);
    await proves(patch, base);
    await sh(patchRemovalText(owner));
    expect(await sh(`ls -d /tmp/.sandflow-*${owner}* 2>/dev/null || true`)).toBe('');
  });

  it('says how many submodules there are, also for a repository that somebody made inside', async () => {
    await begin();
    const base = await recorded();
    await sh('git init -q inner && cd inner && echo x >x && git add x && git commit -q -m x', repository);
    expect(await patchFrom(base)).toMatchObject({ submodules: 1, missed: null });
  });

  it('names what git could not read: an inner repository without a commit', async () => {
    await begin();
    const base = await recorded();
    await sh('git init -q inner && touch inner/x', repository);
    await write('new.txt', 'new\n');
    const head = await patchFrom(base);
    expect(head).toMatchObject({ missed: expect.stringContaining('inner') });
    expect(head && 'content' in head && head.content?.toString()).toContain('new.txt');
  });

  it('has no deletions in a sparse checkout', async () => {
    await begin();
    await write('sub/far.txt', 'far\n');
    await git('add', '-A');
    await git('commit', '-q', '-m', 'far');
    await git('sparse-checkout', 'set', '--no-cone', '/*', '!/sub/');
    const base = await recorded();
    await write('kept.txt', 'changed\n');
    const patch = (await collected(base)).toString();
    expect(patch).toContain('kept.txt');
    expect(patch).not.toContain('far.txt');
  });

  it('covers the whole repository if the folder is inside it, also in a linked working tree', async () => {
    await begin();
    await git('worktree', 'add', '-q', '../linked');
    const root = join(folder, 'linked');
    await mkdir(join(root, 'deep'));
    const base = await baseOf(join(root, 'deep'));
    expect(base).toMatchObject({ repository: root });
    await writeFile(join(root, 'kept.txt'), 'changed\n');
    const head = await patchFrom(await git('rev-parse', 'HEAD'), root);
    expect(head && 'content' in head && head.content?.toString()).toContain('a/kept.txt b/kept.txt');
  });
});

describe.skipIf(!hasGit)('without a patch', () => {
  it('names a missing folder, and a folder that is no repository', async () => {
    expect(await baseOf(join(folder, "it's missing; touch x"))).toMatchObject({ word: 'no_folder' });
    expect(await baseOf(folder)).toMatchObject({ word: 'not_a_repository' });
    await git('init', '-q', '--bare');
    expect(await baseOf()).toMatchObject({ word: 'not_a_repository' });
  });

  it('names a sandbox without git', async () => {
    const text = baseText({ path: repository, owner, mayHavePrompted: false });
    const { stdout } = await run('/bin/sh', ['-c', text], { env: { PATH: join(folder, 'nothing') } });
    expect(readDiffAnswer(stdout)).toMatchObject({ word: 'git_missing' });
  });

  it('names a base that is gone: the repository was replaced, or removed', async () => {
    await begin();
    const base = await recorded();
    await rm(join(repository, '.git'), { recursive: true });
    expect(await patchFrom(base)).toMatchObject({ word: 'not_a_repository' });
    await git('init', '-q');
    expect(await patchFrom(base)).toMatchObject({ word: 'base_unknown', message: expect.stringContaining(`${base}`) });
    expect(await sh(`ls -d /tmp/.sandflow-*${owner}* 2>/dev/null || true`)).toBe('');
  });

  it('does not take the repository further up for a repository that was removed', async () => {
    await sh('git init -q . && git add -A && git commit -q --allow-empty -m outer');
    await git('init', '-q');
    const base = await recorded();
    await rm(join(repository, '.git'), { recursive: true });
    expect(await patchFrom(base)).toMatchObject({ word: 'not_a_repository' });
  });
});

describe.skipIf(!hasGit)('the base', () => {
  it('stays what the first call found, and is unknown if a prompt may have come before the first call', async () => {
    await begin();
    expect(await baseOf(repository, true)).toMatchObject({ word: 'base_unknown' });
    const base = await recorded();
    await git('commit', '-q', '--allow-empty', '-m', 'later');
    expect(await recorded()).toBe(base);
    expect(await baseOf(repository, true)).toMatchObject({ commit: base, repository });
  });
});

describe('an answer that is not whole', () => {
  const whole =
    'sandflow-diff patch\nsize 3\nid e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\nsubmodules 0\ncontent\nYWJj\nend\n';

  it('is read as a whole only', () => {
    expect(readContentOf(whole)?.toString()).toBe('abc');
    expect(readContentOf(whole.slice(0, -2))).toBeUndefined();
    expect(readContentOf(whole.replace('YWJj', 'YWJj… (cut)'))).toBeUndefined();
    expect(readDiffAnswer(whole.slice(20))).toBeUndefined();
    expect(readDiffAnswer('')).toBeUndefined();
    expect(readDiffAnswer('sandflow-diff nonsense\n')).toBeUndefined();
    expect(readDiffAnswer(`a greeting\n${whole}`)).toMatchObject({ word: 'patch' });
  });

  it('is refused if it does not match its id, or names no commit', () => {
    expect(hasId(Buffer.from('abc'), 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')).toBe(false);
    expect(hasId(Buffer.alloc(0), 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')).toBe(true);
    const base = (text: string) => readBase({ word: 'base', lines: text.split('\n') });
    expect(base('none\n/a\nb\n')).toEqual({ commit: null, repository: '/a\nb' });
    expect(base('HEAD; rm -rf /\n/a\n')).toBeUndefined();
    expect(base('none\nrelative\n')).toBeUndefined();
  });
});

function readContentOf(stdout: string): Buffer | undefined {
  const answer = readDiffAnswer(stdout);
  return answer && readPatchHead(answer)?.content;
}
