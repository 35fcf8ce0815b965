/** Files that people have, given to `fanout` by their names: each is read as its writer meant it, or refused. Gate; costs nothing. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { itemSources } from '../../../../src/cli/fanout/item-sources.js';
import { readItems } from '../../../../src/fanout/index.js';
import { temporaryDirectory } from '../temporary-directory.js';

type Content = string | Buffer;
const matrix = { providers: [], models: [], efforts: [], repeats: 1 };

/** @returns the prompts, or the error */
async function promptsOf(
  name: string,
  content: Content,
  { format, prompt }: Partial<Record<'format' | 'prompt', string>> = {},
) {
  const cwd = await temporaryDirectory();
  const isStdin = name === '-';
  if (!isStdin) await writeFile(join(cwd, name), content);
  const stdin = (async function* () {
    yield Buffer.from(content);
  })();
  try {
    const prompts: unknown[] = [];
    const sources = await itemSources([name], { format: format as undefined }, { cwd, stdin });
    const templates = prompt === undefined ? [] : [prompt];
    for await (const item of readItems(sources, { templates, matrix, parseDurationMs: Number })) {
      prompts.push(...item.prompts.map((step) => step.prompt));
    }
    return prompts;
  } catch (error) {
    return String(error);
  }
}

const task = '# Sum a column\n\nRead `data.csv`.\nUse only the standard library.\n';
const frontMatter = '---\ntitle: Sum\ntags:\n  - csv\n---\nRead the file.\n';

describe('a file is read as what it is:', () => {
  it.each<[name: string, content: Content, prompts: readonly string[]]>([
    ['prompts.txt', '# of June\nfix a\n\nfix b \n', ['fix a', 'fix b']],
    ['prompts', 'Fix a.\nfix b: and c\n', ['Fix a.', 'fix b: and c']],
    ['prompts.2026-06', 'fix a\n', ['fix a']],
    ['crlf.TXT', 'fix a\r\nfix b\r\n', ['fix a', 'fix b']],
    ['blocks.txt', '---\n# Task\n\n- one\n- two\n---\nFix:\n  a\n', ['# Task\n\n- one\n- two', 'Fix:\n  a']],
    ['instruction.md', task, [task]],
    ['front.markdown', frontMatter, [frontMatter]],
    ['tasks.md', '1. fix a\n2. fix b\n', ['1. fix a\n2. fix b\n']],
    ['crlf.md', '+++\r\ntitle = "x"\r\n+++\r\nfix a\r\n', ['+++\r\ntitle = "x"\r\n+++\r\nfix a\r\n']],
    ['roles.txt', '---\nRole: tester\nTask: find bugs\n---\nfix {a}\n', ['Role: tester\nTask: find bugs', 'fix {a}']],
    ['chinese', '修复a\n修复b：c\n', ['修复a', '修复b：c']],
    ['greek.txt', 'Τι ώρα είναι;\n', ['Τι ώρα είναι;']],
    ['marks.txt', '👍\nWhat is :smile:\nX=5, what is 2X?\n', ['👍', 'What is :smile:', 'X=5, what is 2X?']],
    [
      'commas.txt',
      'Improve the tool, prompt, and output\nid, please\n',
      ['Improve the tool, prompt, and output', 'id, please'],
    ],
    [
      'lists.txt',
      'id, please\n["a"] has what length?\n{"a":1} is what?\n',
      ['id, please', '["a"] has what length?', '{"a":1} is what?'],
    ],
    ['crlf.jsonl', '\ufeff"a"\r\n\r\n"b"\r\n', ['a', 'b']],
    ['a.ndjson', '{"prompt":"a"}\n{"prompt":"b"}\n', ['a', 'b']],
    ['list.json', '["a",{"prompt":"b"}]', ['a', 'b']],
    ['index.csv', ',prompt\n0,say a\n1,say b\n', ['say a', 'say b']],
    ['pandas.csv', ',note,prompt\n0,"x, y","say a,\nb"\n1,,say c\n', ['say a,\nb', 'say c']],
    ['blank-lines.csv', '\r\nid,prompt\r\n\r\n1,say a\r\n,\r\n', ['say a']],
    ['decimals.csv', 'id;prompt\n1,5;say 1,5\n', ['say 1,5']],
    ['empty-columns.csv', 'prompt,note,,\nsay a,x,,\nsay b,,,\n', ['say a', 'say b']],
    ['wider-rows.csv', 'prompt,note\nsay a,x,\n', ['say a']],
    ['sep.csv', 'sep=;\nid;prompt\n1;say a, b\n', ['say a, b']],
    ['excel.csv', '\ufeffsep=;\r\n"id";"prompt"\r\n1;"say ""a"";\nb"\r\n', ['say "a";\nb']],
    ['quoted-sep.csv', '"sep=^"\nid^prompt\n1^say a\n', ['say a']],
    ['bars.csv', 'id|prompt\n1|say a\n', ['say a']],
    ['bars.psv', 'id|prompt\n1|say a, b\n', ['say a, b']],
    ['quoted-header.csv', '"id","prompt, long","prompt"\n1,x,say a\n', ['say a']],
    ['tabs.csv', 'id\tprompt\n1\tsay a, b\n', ['say a, b']],
    ['commas.tsv', 'id,prompt\n1,say a\n', ['say a']],
    ['one-column.tsv', 'prompt\nsay a, b\n', ['say a, b']],
    ['quotes.tsv', 'id\tprompt\n1\t"say ""a""\tb"\n', ['say "a"\tb']],
    ['r.tab', 'id\tprompt\n1\tsay a\n', ['say a']],
    ['bar-in-name.csv', 'prompt,kind | level\nsay a,x\n', ['say a']],
    ['semicolon-in-name.csv', 'id,prompt,a;b\n1,say a; b; c,x\n', ['say a; b; c']],
  ])('%s', async (name, content, prompts) => {
    expect(await promptsOf(name, content)).toEqual(prompts);
  });

  it('as the format says, if one is given', async () => {
    const config = '[metadata]\n- a\n';
    expect(await promptsOf('task.toml', config, { format: 'file' })).toEqual([config]);
    expect(await promptsOf('task.toml', config, { format: 'text' })).toEqual(['[metadata]', '- a']);
    expect(await promptsOf('-', task, { format: 'file' })).toEqual([task]);
    expect(await promptsOf('main.py', 'x = 1', { format: 'file', prompt: 'Review {{file}}: {{prompt}}' })).toEqual([
      'Review main.py: x = 1',
    ]);
    expect(
      await promptsOf('semicolons.csv', 'id;prompt, in full\n1;say a\n', { prompt: '{{prompt, in full}}' }),
    ).toEqual(['say a']);
  });
});

const either = /could be one prompt or many\. For one prompt use --format file, for a prompt a line --format text\.$/;
/** Of a file whose lines are no prompts. */
const looks = (line: number, what: string) =>
  new RegExp(
    `:${line}: this looks like ${what}.*For one prompt use --format file, for a prompt a line --format text\\.$`,
  );

describe('a file that could be one prompt or many is refused:', () => {
  it.each<[name: string, content: Content, why: RegExp]>([
    ['task.toml', '[metadata]\nname = "x"\n', either],
    ['tests.xml', '<items>\n  <item>a</item>\n</items>\n', either],
    ['tests.yaml', 'prompts:\n  - Say hello\n', either],
    ['main.py', 'import os\n', either],
    ['a.ts', 'const a = 1;\n', either],
    ['a.sh', 'set -e\n', either],
    ['.env', 'TOKEN=a\n', either],
    ['a.ini', '[a]\nb=1\n', either],
    ['a.log', 'INFO start\n', either],
    ['a.rst', 'Title\n=====\n', either],
    ['a.adoc', '= Title\n', either],
    ['a.mdx', '# T\n', either],
    ['a.html', '<html>\n', either],
    ['a.ipynb', '{\n "cells": []\n}\n', either],
    ['a.patch', 'diff --git a/x b/x\n', either],
    ['a.sql', 'select 1;\n', either],
    ['a.json5', '[\n  {prompt: "a"},\n]\n', either],
    ['task.md~', 'Do this.\nAnd that.\n', either],
    ['app.log.1', 'started\nended\n', either],
    ['main.c++', 'int a;\n', either],
    ['x.', 'Do this.\nAnd that.\n', either],
    ['AGENTS', 'Do this.\nAnd that.\n', either],
    ['a.prompt', 'You are a tester.\nFind bugs.\n', either],
    ['a.j2', 'Fix {{a}}\n', either],
    ['a.tex', '\\begin{document}\n', either],
    ['a.eml', 'Subject: x\n', either],
    ['Makefile', 'all:\n\ttrue\n', either],
    ['Dockerfile', 'FROM node\n', either],
    ['README', 'sandflow\n', either],
    ['book.xlsx', Buffer.from('PK\x03\x04\x14\0'), /is a workbook\. Save its sheet as CSV\.$/],
    ['prompts.txt.gz', gzipSync('a'), /is packed\. Unpack it first\.$/],
    ['a.zip', Buffer.from('PK\x03\x04\x14\0'), /is packed\. Unpack it first\.$/],
    ['a.pdf', '%PDF-1.4\n', /is a document\. Save it as text\.$/],
    ['a.parquet', Buffer.from('PAR1\x15\0'), /is not text\. Save its records as JSONL or CSV\.$/],
    ['script', '#!/usr/bin/env python3\nprint(1)\n', looks(1, 'a script')],
    ['fence.txt', 'Run this.\n```sh\ntrue\n```\n', looks(2, 'a block of code within a prompt')],
    ['sections.txt', '# Task\n\n## Steps\n\nRead it.\n', looks(3, 'a heading of Markdown')],
    [
      'dashes.txt',
      '- fix a\n- fix b\n',
      /:1: this looks like an entry of a list\. If each entry is a prompt, remove the marks/,
    ],
    ['boxes.txt', '[ ] fix a\n[x] fix b\n', /:1: this looks like an entry of a list/],
    ['makefile', 'all: build\n\tcc main.c\n', /:2: this seems to continue the line before it/],
    ['latex', '\\documentclass{article}\n\\begin{document}\n', looks(1, 'code')],
    ['main.txt', '#include <a.h>\nint main() {\nreturn 0;\n}\n', looks(2, 'code')],
    ['-', 'select 1;\nselect 2;\n', looks(1, 'code')],
    ['docker.txt', 'FROM node\nRUN npm ci \\\n  && npm test\n', looks(2, 'code')],
    ['-', 'diff --git a/x b/x\n--- a/x\n+++ b/x\n', looks(1, 'a part of a patch')],
    ['-', '> fix a\n> and b\n', looks(1, 'a quote of Markdown')],
    ['-', '+++\ntitle = "x"\n+++\nfix a\n', looks(1, 'a part of something longer')],
    ['-', '---\nTitle: Sum\n---\nfix a\n', looks(2, 'YAML')],
    ['-', '---\n# of June\ntitle: Sum\n---\nfix a\n', looks(2, 'YAML')],
    ['notebook', '{\n "cells": []\n}\n', /:1: this looks like JSONL\. Use --format jsonl/],
    ['list', '[\n "a"\n]\n', /:1: this looks like a JSON list\. Use --format json,/],
    ['table.txt', '| id | prompt |\n|---|---|\n| 1 | a |\n', /:1: this looks like the header of CSV/],
    ['-', 'Make this test pass\n\n    npm test\n', /:3: this seems to continue the line before it/],
    ['-', 'fix it\n#42 fix login\n', /:2: this looks like a prompt, but a line that begins with # is skipped/],
    ['-', 'name: fix\nmodel: m1\n', looks(2, 'YAML')],
    ['-', 'name = "x"\n', looks(1, 'a setting of TOML or INI')],
    ['-', '2026-11-29 08:00:01 INFO started\n', looks(1, 'a line of a log')],
    ['-', 'User: hi\nAssistant: hello\n', looks(1, 'a part of a conversation')],
    ['-', 'Dear agent,\n\nplease fix it.\n', looks(1, 'the beginning of a longer text, by its last character')],
    ['-', 'title,body\nA,B\n', /:1: this looks like the header of CSV/],
    ['dashes.txt', '– Fix a\n– Fix b\n', looks(1, 'an entry of a list')],
    ['letters.txt', 'a) Fix a\nb) Fix b\n', looks(1, 'an entry of a list')],
    ['cr.md', 'a\rb\r', /only CR|CR/],
    [
      'issues.csv',
      '7,OPEN,Fix login\n8,OPEN,Add x\n',
      /:1: the first line seems to be a record: column 1 is called 7\./,
    ],
    ['numbers.txt', 'Do it.\n1. fix a\n2) fix b\n', /:2: this looks like an entry of a list/],
    ['-', '<?xml version="1.0"?>\n', looks(1, 'XML or HTML')],
    ['-', '<!DOCTYPE html>\n', looks(1, 'XML or HTML')],
    ['-', '<items kind="a">\n', looks(1, 'XML or HTML')],
    ['-', '[tool.poetry]\nname = "x"\n', looks(1, 'a section of TOML or INI')],
    ['-', 'TOKEN=a\n', looks(1, 'a setting of a shell')],
    ['-', 'Title\n=====\n', looks(2, 'a part of something longer: it has no letters')],
    ['-', 'Do this:\nfix a\n', looks(1, 'the beginning of a longer text, by its last character')],
    ['-', 'prompts:\n  - Say hello\n', looks(1, 'the beginning of a longer text')],
    [
      '-',
      'def f(x)\n    return x\n',
      /:2: this seems to continue the line before it\. For one prompt use --format file/,
    ],
    [
      'wrapped.txt',
      'Look at the tests of the service and find those that\nfail by chance.\n',
      /:2: this seems to continue/,
    ],
    ['-', frontMatter, looks(2, 'YAML')],
    ['-', '---\nprompt: a\n---\nprompt: b\n', looks(2, 'YAML')],
    ['-', '---\n{"prompt": "a"}\n', /:2: this looks like JSONL\. Use --format jsonl/],
    ['-', '{"prompt":"a"}\n', /:1: this looks like JSONL\. Use --format jsonl, or --format text if it is a prompt\.$/],
    ['-', 'id,prompt\n1,say a\n', /:1: this looks like the header of CSV\. Use --format csv/],
    ['-', 'prompt\nsay a\n', /:1: this looks like the header of CSV/],
    ['pasted.txt', 'issue\tfile\ncrash\ta.ts\n', /:1: this looks like the header of CSV/],
  ])('%s %j', async (name, content, why) => {
    expect(await promptsOf(name, content)).toMatch(why);
  });
});

describe('a file that is broken is refused with its line and the way out:', () => {
  it.each<[name: string, content: Content, why: RegExp]>([
    ['utf16.txt', Buffer.from('\ufefffix a\n', 'utf16le'), /:1: this is UTF-16\. Save the file as UTF-8\.$/],
    ['utf16.md', Buffer.from('\ufefffix a\n', 'utf16le'), /:1: this is UTF-16/],
    ['utf16be.csv', Buffer.from('\ufeffprompt\na\n', 'utf16le').swap16(), /:1: this is UTF-16/],
    ['no-mark.txt', Buffer.from('fix a\n', 'utf16le'), /:1: this line has a NUL character/],
    ['latin1.csv', Buffer.from('prompt\ncaf\xe9\n', 'latin1'), /:1: this is not UTF-8 text/],
    ['nul.txt', 'one\na\0b\n', /:2: this line has a NUL character\. Remove it, or save the file as text in UTF-8\.$/],
    ['nul.csv', 'prompt\na\0b\n', /:2: this line has a NUL character/],
    ['nul.jsonl', '"a"\n"b\0"\n', /:2: this line has a NUL character/],
    ['nul.md', 'a\n\nb\0', /:3: this line has a NUL character/],
    ['empty.md', '\n', /:1: the file is empty\.$/],
    ['commas.jsonl', '{"prompt":"a"},\n{"prompt":"b"},\n', /:1:15: .*Remove the comma at the end of the line\.$/],
    ['list.jsonl', '[{"prompt":"a"},\n{"prompt":"b"}]\n', /:1: .*use --format json\.$/],
    [
      'object.json',
      '{"items":[{"prompt":"a"}]}',
      /If a field holds the list, take it out: jq \.FIELD FILE > NEW_FILE$/,
    ],
    [
      'title.csv',
      'Issues of June\nid,prompt\n1,say a\n',
      /:1: the column prompt is missing; .* If this line is a title/,
    ],
    [
      'title-row.csv',
      'Issues of June,,\n,,\nid,prompt,note\n1,say a,x\n',
      /If this line is a title, remove the lines above/,
    ],
    [
      'title-line.csv',
      '# of June\nid,prompt\n1,say a\n',
      /:1: the column prompt is missing; .* If this line is a title/,
    ],
    [
      'table.csv',
      '| id | prompt |\n|---|---|\n| 1 | a |\n',
      /:1: this looks like a table of Markdown\. Save it as CSV/,
    ],
    ['one-name.csv', ',issue\n0,a\n', /the columns are issue\. Build prompts from them: --prompt "… \{\{issue\}\}"\.$/],
    ['pretty.jsonl', '{\n  "prompt": "a"\n}\n', /each item is on one line, as `jq -c` prints it/],
    ['carets.csv', 'id^prompt\n1^say a\n', /name it in a line before this one, like sep=\^\.$/],
    ['two-signs.csv', 'id;b, c\n1;x, y\n', /:1: commas and semicolons may separate its cells\. Say which .*: sep=,$/],
    ['named-twice.csv', 'prompt,a,a\nx,1,1\n', /:1: the column a occurs twice\. Rename one of them\.$/],
    ['no-name.csv', 'prompt,,\nsay a,,x\n', /:2: column 3 has text, but no name\. Name it in the first line/],
    [
      'short.csv',
      'prompt,note\nsay a\n',
      /:2: this record has 1 cells, but the header has 2\. Write a comma for each empty cell\.$/,
    ],
  ])('%s', async (name, content, why) => {
    expect(await promptsOf(name, content)).toMatch(why);
  });

  it('a title is named also if there is a template', async () => {
    const told =
      /:3: this record has 2 cells, but the header has 1\. .* or remove the title above the names of the columns\.$/;
    expect(await promptsOf('a.csv', 'Issues of June\n\nid,q\n1,a\n', { prompt: '{{q}}' })).toMatch(told);
  });

  it('the advice is never a name of which nobody knows the cells', async () => {
    for (const content of ['id^prompt\n1^a\n', 'Issues of June\nid,prompt\n1,a\n']) {
      expect(await promptsOf('a.csv', content)).not.toContain('{{');
    }
  });
});
