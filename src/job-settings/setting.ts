/** What a row of the settings says. Plain data: workflow code and help pages import this folder. */

/** What a value is. The types, the schemas and the option texts of each kind stand once. */
export type Kind =
  /** One of `values`. */
  | 'choice'
  /** A short text, such as the name of a model. */
  | 'name'
  /** A long text, or a reference to one. As an option: text, or `@file`. */
  | 'text'
  /** A short text with `{{names}}`. As an option: text, or `@file`. */
  | 'template'
  /** ms. As an option: `90s`, `1h30m`. */
  | 'duration'
  /** The auto-stop of a sandbox, in seconds. As an option: a duration. */
  | 'ttl'
  /** Machine-seconds. As an option: a duration. */
  | 'budget'
  /** A whole number from `least` to `most`. */
  | 'count'
  /** True or false. */
  | 'flag'
  /** Id of a sandbox. */
  | 'sandbox'
  /** Prompts, in order. As options: text, or `@file`. */
  | 'prompts'
  /** Shell commands, in order. */
  | 'commands'
  /** Files to write. As options: `local[:remote]`. */
  | 'files'
  /** Files to collect. As options: `remote[:local]`. */
  | 'paths'
  /** A folder of the sandbox. */
  | 'folder'
  /** Names with values. As options: `name=value`. */
  | 'labels'
  /** Further fields of a request, sent unchanged. As an option: JSON, or `@file`. */
  | 'fields'
  /** Whom to notify. As an option: a URL, or a chat and its URL. */
  | 'notify'
  /** What to do about a stop that fails. As an option: `30m: resume-and-stop, 2h: notify`. */
  | 'escalation'
  /** When a batch ends early. No option of its own. */
  | 'stopAt'
  /** Intervals that tests shorten. No option. */
  | 'timing';

/** The commands whose options take settings. */
export type SettingCommand = 'run' | 'fanout' | 'resume' | 'continue' | 'prompt';

/** How one command takes a setting. */
export interface OptionRow {
  readonly help: string;
  /** How the help page names the value. Default: as in the row. */
  readonly value?: string;
  /** The values that this command takes, if it takes fewer. */
  readonly values?: readonly string[];
  /** The largest count that this command takes, if it is smaller. */
  readonly most?: number;
  /** True if each item runs with each of several values, separated by commas. */
  readonly several?: true;
  /** True if only `--help-all` shows the option. */
  readonly rare?: true;
  /** True if `sandflow.json` may set it. That file comes with the code and may be hostile (decision 36). */
  readonly project?: true;
  /** Names of the settings that cannot be used with this one, and what this one does. Without that: use one of two. */
  readonly excludes?: readonly (readonly [names: readonly string[], because?: string])[];
  /** Names of the settings of which it needs one, and why. */
  readonly requires?: readonly [names: readonly string[], because?: string];
  /** Names of the settings of a project that do not apply beside this one on the command line. */
  readonly replaces?: readonly string[];
}

/** One setting. */
export interface Setting {
  readonly kind: Kind;
  /**
   * Where the value goes: into the input of a job, each prompt, the request that creates or forks the sandbox, or the
   * policy of a batch. `command`: a command reads it, and no input has it.
   */
  readonly of: 'job' | 'prompt' | 'sandbox' | 'policy' | 'command';
  /** Name in files; with dashes, that of the option. Default: the key of the row. */
  readonly name?: string;
  /** Name of the field in the input. Default: the key of the row. */
  readonly field?: string;
  /** How help pages name the value of the option. Default: by the kind. */
  readonly value?: string;
  readonly values?: readonly string[];
  /** True if the text never names a file, whatever it says. */
  readonly asIs?: true;
  /** The names that a template may have. */
  readonly names?: readonly string[];
  readonly least?: number;
  /** Of a count, the bytes of a name or a template, or the number of commands. */
  readonly most?: number;
  /** Default of a job, or of a policy that alone has the field. A field with a default is always there. */
  readonly default?: unknown;
  /** True if the value may be null. */
  readonly orNull?: true;
  /** True if the field is always there, but its default depends on other fields. */
  readonly required?: true;
  /** Set if the policy of a batch has the field too, for all items. `default`: as above, in the policy. */
  readonly batch?: { readonly default?: unknown; readonly orNull?: true };
  /** True if an item may set it. It then counts instead of that of the batch. */
  readonly item?: true;
  /** The value that the option, which takes none, sets. For `false`, and for `env`, it begins with `--no-`. */
  readonly sets?: string | boolean;
  readonly on?: { readonly [Command in SettingCommand]?: OptionRow };
}

/** Of an option that only `--help-all` shows, and that `sandflow.json` may set. */
export const rareInProject = { rare: true, project: true } as const;
