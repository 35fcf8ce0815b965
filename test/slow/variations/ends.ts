/** How work ends on a service that differs, where it is not `completed`, by the names of the rows. */
import type { KindName } from './kinds.js';

type Ends = Readonly<Partial<Record<KindName, string>>>;
const inJobs = (end: string): Ends => ({ one: end, two: end, batch: end, delete: end, files: end });
/** Each prompt is completed without its answer, and a note says what could not be read. */
const noted = inJobs('completed, noted');
const refused = (code: string): Ends => ({ ...inJobs(`rejected: ${code}`), batch: `source_failed: ${code}` });
/** The state that the items would start from is not known. */
const noSource: Ends = { batch: 'source_failed: source_unknown' };
const cutList: Ends = { cleanup: 'failed: list_incomplete' };
const noFile: Ends = { files: 'completed, no file' };
/** The command of the source. */
const noCommand: Ends = { batch: 'source_failed: unexpected_response' };
/** Reads show a sandbox otherwise than the list did: it has no stop, or one that looks open. */
const unlike: Ends = { cleanup: 'applied: skipped: changed' };
/** Lists show the sandboxes, and reads do not. */
const unseen: Ends = { cleanup: 'applied: skipped: gone' };

export const ends: Readonly<Record<string, Ends>> = {
  'A-prompt-record': noted,
  'other words for statuses, without an end': noted,
  'statuses in capitals': noted,
  'prompts that stay running': noted,
  'no ids of events, no promptId': noted,
  'texts of events outside data, no promptId': noted,
  'events cut without a way on, no promptId': { two: 'completed, noted' },
  'A-prompt-id + A-events': noted,
  'A-prompt-id + A-events.words': noted,
  'events under another key, no promptId': noted,
  'no history: typed 404, no promptId': noted,
  'no history: HTML 404, no promptId': noted,
  'no history: 501, no promptId': noted,
  'A-request-form': refused('invalid_request'),
  'A-request-form.ttl': refused('invalid_request'),
  'A-request-form.uuid-keys': refused('invalid_request'),
  'bare-sandboxes': noSource,
  'null for the other fields of sandboxes': noSource,
  'no snapshot fields': noSource,
  'A-paging.has-more': cutList,
  'A-paging.total': cutList,
  'A-files': noFile,
  'A-files.bare': noFile,
  'A-files.raw': noFile,
  'files without encoding': noFile,
  'files without path': noFile,
  'A-command': noCommand,
  'A-command.later': noCommand,
  'commands without output': noCommand,
  'commands with one output': noCommand,
  'exit codes under exit_code': noCommand,
  'gzip that nobody asked for': {
    ...refused('unexpected_response'),
    ...{ stop: 'rejected: unexpected_response', cleanup: 'failed: unexpected_response' },
  },
  'A-read-lag': unseen,
  'A-prompt-id + A-create-fields + A-error-codes.flat + A-stop-answer.other-key + A-read-lag': unseen,
  'no-stop-on-sandboxes + A-stop-answer + A-stop-read': unlike,
  'no stop on sandboxes, a stop without an id': unlike,
  'other words for the status of a stop': unlike,
  // It shows ids that it does not take.
  'conversation ids as numbers': { two: 'rejected: not_found' },
  'fields of forks refused': { batch: 'partly_failed: rejected: unknown_field' },
  'A-header-family': {
    cleanup: 'applied: failed',
    batch: 'completed, deletion refused',
    delete: 'completed, deletion refused',
  },
};
