/** The context that every command gets, and the types of its options. */
import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import type { CliIo } from './io.js';

export interface CommandContext {
  readonly io: CliIo;
  /** The job of the command, for error reports. */
  jobId: string | null;
  exitCode: number;
  /**
   * What an interruption now leaves undone, for its message, like `started no job`. Undefined once the command may have
   * done it, and for a command that changes nothing.
   */
  undone?: string | undefined;
}

export interface JsonOption {
  readonly json?: boolean;
}

/** The command to which another command is added. */
export type Parent = CommandUnknownOpts;

/**
 * Adds a command with its action to its parent. Runs at start-up, so only the command's action may import heavy
 * modules.
 */
export type AddCommand = (parent: Parent, context: CommandContext) => void;

/**
 * The action of a command that loads what it does only when it runs. That gets the arguments and the options, and then the
 * context. It may return the exit code.
 */
export function lazily<Given extends unknown[]>(
  context: CommandContext,
  load: () => Promise<(...given: [...Given, CommandContext]) => Promise<number> | Promise<void>>,
): (...given: [...Given, command: unknown]) => Promise<void> {
  return async (...given) => {
    const act = await load();
    const exitCode = await act(...(given.slice(0, -1) as Given), context);
    if (exitCode !== undefined) context.exitCode = exitCode;
  };
}

/** The options of the command that `Declaration` adds, as the parser returns them. */
export type OptionsOf<Declaration extends (parent: Parent) => { opts(): OptionValues }> = Plain<
  ReturnType<ReturnType<Declaration>['opts']>
>;

/** A flag is inferred as `true`; here it is a boolean. */
type Plain<Options> = {
  readonly [Name in keyof Options]: NonNullable<Options[Name]> extends boolean ? boolean : Options[Name];
};

/** Any command that options can be added to. */
export type AnyCommand<Arguments extends unknown[], Options extends OptionValues> = Command<
  Arguments,
  Options,
  OptionValues
>;

/** Adds a command that can print what it says as JSON. */
export const jsonCommand = (parent: Parent, name: string, description: string) =>
  parent.command(name).description(description).option('--json', 'print one JSON object on stdout');

/** Collects a repeatable option. */
export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
