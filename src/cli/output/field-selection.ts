/** `--fields a,b.c`: prints only these fields of the JSON of a command. */
import { type Command, Option } from 'commander';
import { editsBetween } from '../../contract/texts/edits.js';
import type { CommandContext } from '../command.js';
import { UsageError } from '../usage-error.js';
import { type JsonFields, jsonFields, type Shape, type Shapes } from './json-fields.js';
import type { FieldSelection } from './picked-fields.js';

/**
 * @param text names of fields, separated by commas; a dot leads into a field
 * @throws UsageError if the command has no such field
 */
export function parseFields(text: string, { fields, inside }: JsonFields): FieldSelection {
  let chosen: FieldSelection = {};
  for (const name of text.split(',').map((part) => part.trim())) {
    if (name === '') throw new UsageError(`--fields: a name is empty. Separate names with commas. ${listOf(fields)}`);
    const path = name.split('.');
    const nested = inside === undefined ? undefined : fields[inside];
    const [first = ''] = path;
    const isNested = !(Object.hasOwn(fields, first) || !isShapes(nested) || !Object.hasOwn(nested, first));
    const whole = inside !== undefined && isNested ? [inside, ...path] : path;
    check(whole, name, { fields, ...(isShapes(nested) && { nested }) });
    chosen = withPath(chosen, whole);
  }
  return chosen;
}

/** The names that `--fields` takes without a dot. Empty for a command that prints no JSON. */
export function fieldNames(command: string): string[] {
  const known = Object.hasOwn(jsonFields, command) ? jsonFields[command] : undefined;
  if (!known) return [];
  const nested = known.inside === undefined ? undefined : known.fields[known.inside];
  return [...new Set([...(isShapes(nested) ? Object.keys(nested) : []), ...Object.keys(known.fields)])];
}

/** Adds `--fields` to every command that has `--json`, and lists the names on its help page. */
export function addFields(program: Command, { io }: Pick<CommandContext, 'io'>): void {
  const addBelow = (parent: Command, prefix: string) => {
    for (const command of parent.commands) {
      const name = `${prefix}${command.name()}`;
      const known = Object.hasOwn(jsonFields, name) ? jsonFields[name] : undefined;
      if (known && command.options.some(({ long }) => long === '--json')) {
        command.addOption(
          new Option('--fields <names>', 'print only these fields of --json: names separated by commas, like a,b.c')
            .argParser((text: string) => parseFields(text, known))
            .implies({ json: true }),
        );
        command.addHelpText('after', () => `\n${wrapped('Fields:', fieldNames(name))}`);
      }
      addBelow(command, `${name} `);
    }
  };
  addBelow(program, '');
  program.hook('preAction', (_, command) => {
    io.stdout.fields = command.opts<{ readonly fields?: FieldSelection }>().fields;
  });
}

/** True if the arguments ask for JSON, also if they cannot be parsed. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === '--json' || /^--fields(?:=|$)/.test(arg));
}

function check(path: readonly string[], name: string, known: { readonly fields: Shapes; readonly nested?: Shapes }) {
  let shape: Shape = known.fields;
  for (const [depth, step] of path.entries()) {
    if (shape === 'any') return;
    if (shape === true) throw new UsageError(`--fields: "${name}": ${path.slice(0, depth).join('.')} has no fields.`);
    if (!Object.hasOwn(shape, step)) {
      const siblings: Shapes = depth === 0 ? { ...known.nested, ...shape } : shape;
      const meant = Object.keys(siblings).find((one) => editsBetween(step, one) <= Math.min(2, one.length / 2));
      const hint = meant === undefined ? '' : ` Did you mean ${[...path.slice(0, depth), meant].join('.')}?`;
      throw new UsageError(`--fields: there is no field "${name}".${hint} ${listOf(siblings, path.slice(0, depth))}`);
    }
    shape = shape[step] ?? 'any';
  }
}

function listOf(shapes: Shapes, inside: readonly string[] = []): string {
  const of = inside.length === 0 ? '' : ` of ${inside.join('.')}`;
  return `Fields${of}: ${Object.keys(shapes).join(', ')}.`;
}

function withPath(chosen: FieldSelection, [name = '', ...rest]: readonly string[]): FieldSelection {
  const earlier = Object.hasOwn(chosen, name) ? chosen[name] : undefined;
  if (earlier === true) return chosen;
  return { ...chosen, [name]: rest.length === 0 ? true : withPath(earlier ?? {}, rest) };
}

function isShapes(shape: Shape | undefined): shape is Shapes {
  return typeof shape === 'object';
}

const helpWidth = 110;

function wrapped(title: string, words: readonly string[]): string {
  const lines: string[] = [title];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + word.length + 2 > helpWidth) {
      lines.push(`  ${line},`);
      line = '';
    }
    line = line === '' ? word : `${line}, ${word}`;
  }
  return `${[...lines, `  ${line}`].join('\n')}\n`;
}
