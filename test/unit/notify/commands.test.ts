import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNotifyCommands, notifyCommandId } from '../../../src/notify/index.js';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-notify-'));
  file = join(directory, 'home', 'notify-commands.json');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const write = async (text: string, mode = 0o600) => {
  const path = join(directory, 'commands.json');
  await writeFile(path, text);
  await chmod(path, mode);
  return createNotifyCommands(path);
};

describe('the file of notify commands', () => {
  it('may begin with a byte order mark', async () => {
    expect(await (await write('\uFEFF{"mail-me": "mail"}')).find('mail-me')).toBe('mail');
  });

  it('is created with mode 600 in a folder of mode 700, and names a command by an id of its text', async () => {
    const commands = createNotifyCommands(file);
    const id = await commands.keep('mail me');
    expect(id).toBe(notifyCommandId('mail me'));
    expect(id).toMatch(/^sha256-[0-9a-f]{32}$/);
    expect(await commands.find(id)).toBe('mail me');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'home'))).mode & 0o777).toBe(0o700);
    expect(await readFile(file, 'utf8')).toBe(`{\n  "${id}": "mail me"\n}\n`);
  });

  it('stores a command once, and all of several commands stored at once', async () => {
    const texts = Array.from({ length: 12 }, (_, at) => `command ${at % 6}`);
    const ids = await Promise.all(texts.map((text) => createNotifyCommands(file).keep(text)));
    expect(new Set(ids).size).toBe(6);
    for (const [at, id] of ids.entries()) expect(await createNotifyCommands(file).find(id)).toBe(texts[at]);
    const others = (await readdir(join(directory, 'home'))).filter((name) => !name.endsWith('.lock'));
    expect(others).toEqual(['notify-commands.json']);
  });

  it('has no command if it does not exist or the id differs', async () => {
    const commands = createNotifyCommands(file);
    expect(await commands.find('any')).toBeUndefined();
    await commands.keep('mail me');
    for (const id of ['any', '__proto__', 'constructor', '', 'mail me']) {
      expect(await commands.find(id)).toBeUndefined();
    }
  });

  it('may contain chosen names', async () => {
    const commands = await write('{"mail-me": "mail -s sandflow me@example.com"}');
    expect(await commands.find('mail-me')).toBe('mail -s sandflow me@example.com');
  });

  it.each([0o620, 0o602, 0o666])('is refused where others may write it: mode %o', async (mode) => {
    const commands = await write('{"a": "true"}', mode);
    await expect(commands.find('a')).rejects.toMatchObject({ code: 'file_not_trusted' });
    await expect(commands.keep('true')).rejects.toMatchObject({ code: 'file_not_trusted' });
  });

  it('is refused if an id occurs twice: one of its commands would never run', async () => {
    await expect((await write('{"a": "true", "a": "false"}')).find('a')).rejects.toThrow('has "a" twice');
  });

  it('is closed to others who may read it', async () => {
    const commands = await write('{"a": "true"}', 0o644);
    expect(await commands.find('a')).toBe('true');
    expect((await stat(join(directory, 'commands.json'))).mode & 0o777).toBe(0o600);
  });

  it.skipIf(process.getuid?.() !== 0)('is refused where it belongs to another user (needs root)', async () => {
    const commands = await write('{"a": "true"}');
    execFileSync('chown', ['65534', join(directory, 'commands.json')]);
    await expect(commands.find('a')).rejects.toThrow('it belongs to user 65534');
  });

  it('is refused if it is a pipe or a folder, without waiting for a writer', async () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    await expect(createNotifyCommands(pipe).find('a')).rejects.toThrow('it is not a regular file');
    await expect(createNotifyCommands(directory).find('a')).rejects.toThrow('it is not a regular file');
    await symlink(pipe, join(directory, 'link'));
    await expect(createNotifyCommands(join(directory, 'link')).find('a')).rejects.toThrow('it is not a regular file');
  });

  it.each(['nothing', '[]', '"a"', 'null', '{"a": 1}', '{"a b": "true"}', '{"__proto__": "true"}'])(
    'is refused without its content in the message: %s',
    async (text) => {
      const commands = await write(text);
      await expect(commands.find('a')).rejects.toMatchObject({ code: 'bad_notify_commands' });
    },
  );

  it.each(['', '  ', 'x'.repeat(8_001), 'a\0b'])('accepts no command like %j', async (command) => {
    await expect(createNotifyCommands(file).keep(command)).rejects.toMatchObject({ code: 'bad_notify_command' });
  });
});
