/** Every rule with the tests that name it. */
import { areas } from '../rules/catalogue.js';
import type { RuleRecord } from '../rules/rule-record.js';
import { table } from './endpoint-table.js';
import { cell, type NamedTest } from './named-test.js';

/** The traps repeat rules of other areas. */
const repeating: keyof typeof areas = 'The fifteen traps';

interface RuleTables {
  readonly markdown: string;
  /** Ids of the rules that no test names. */
  readonly untested: readonly string[];
  readonly totals: string;
}

export function ruleTables(tests: readonly NamedTest[]): RuleTables {
  const byRule = new Map<string, NamedTest[]>();
  for (const test of tests) for (const id of test.rules) byRule.set(id, [...(byRule.get(id) ?? []), test]);
  const untested: string[] = [];
  const totals: string[][] = [];
  const parts = Object.entries<Readonly<Record<string, RuleRecord>>>(areas).map(([area, rules]) => {
    const entries = Object.entries(rules);
    const without = entries.filter(([id, rule]) => rule.untestable === undefined && !byRule.has(id)).map(([id]) => id);
    const untestable = entries.filter(([, rule]) => rule.untestable !== undefined).length;
    untested.push(...without);
    const tested = entries.length - untestable - without.length;
    totals.push([area, ...[entries.length, tested, untestable, without.length].map(String)]);
    const lines = entries.map(([id, rule]) => [`\`${id}\``, cell(rule.section), cell(rule.says), held(id, rule)]);
    return `### ${area}\n\n${table(['Rule', 'Section', 'It says', 'Tests'], lines)}`;
  });
  const counted = totals.filter(([area]) => area !== repeating);
  const sum = (column: number): string => String(counted.reduce((total, row) => total + Number(row[column]), 0));
  const totalLines = [...totals, ['**All, without the traps**', sum(1), sum(2), sum(3), sum(4)]];
  return {
    markdown: parts.join('\n\n'),
    untested,
    totals: table(['Area', 'Rules', 'With a test', 'Not testable over HTTP', 'No test yet'], totalLines),
  };

  function held(id: string, rule: RuleRecord): string {
    if (rule.untestable !== undefined) return `Not testable over HTTP: ${cell(rule.untestable)}`;
    return (byRule.get(id) ?? []).map(testCell).join('<br>') || '**no test yet**';
  }
}

function testCell({ file, title, needs }: NamedTest): string {
  const plain = title.replace(/^(\[[\w.-]+\] )+/, '');
  return cell(`${file}: ${plain}${needs.length > 0 ? ` (${needs.join(', ')})` : ''}`);
}
