/** Ids of notify commands. The command itself is known only to the worker that runs it. */

/** The pattern of ids. An id is a name that the user chose, or is derived from the command's text. */
export const notifyCommandIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The message for a request that holds the text of a command instead of an id. */
export const noCommandText =
  'is not accepted. Set commandId instead. The text of a command would let anyone with access to Temporal run it on a worker';
