/** How a notify command is named. The command itself stays with the worker that runs it. */

/** Ids of commands: a name that somebody chose, or one that was made of the command's text. */
export const notifyCommandIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Why the text of a command is not taken. */
export const noCommandText =
  'the text of a command is not taken, since whoever reaches Temporal could give one: name it by commandId';
