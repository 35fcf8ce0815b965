/** Suggests what to do about a stop. Pure. */
import type { StopState } from './explain-stop.js';

export interface Advice {
  readonly what: string;
  /** A command that does it, or null. */
  readonly command: string | null;
}

export interface AdviceOptions {
  readonly sandboxId: string;
  /** True when the data of the sandbox has been deleted. */
  readonly isExpired: boolean;
}

export function adviceFor(state: StopState, options: AdviceOptions): Advice[] {
  const { sandboxId, isExpired } = options;
  const wait = { what: 'Wait until it ends:', command: `sandflow stop ${sandboxId} --wait` };
  const resume = { what: 'Resume it for another job:', command: `sandflow run PROMPT --sandbox ${sandboxId}` };
  const remove = {
    what: 'Delete it and all its data:',
    command: `sandflow api DELETE /sandboxes/${sandboxId} --confirm ${sandboxId}`,
  };
  switch (state) {
    case 'no_sandbox':
      return [];
    case 'never_stopped':
    case 'resumed':
    case 'superseded':
      return [{ what: 'Stop it:', command: `sandflow stop ${sandboxId} --wait` }];
    case 'asking':
      return [{ what: 'Check the key and the service:', command: 'sandflow doctor' }, wait];
    case 'pending':
      return [wait];
    case 'failing':
      return [
        {
          what: 'Get notified if it takes too long:',
          command: `sandflow stop ${sandboxId} --wait --alert-after 10m --notify URL`,
        },
        {
          what: 'Cancel the stop by resuming the sandbox, to fix the cause or save the work elsewhere:',
          command: `sandflow api POST /sandboxes/${sandboxId}/resume`,
        },
        remove,
      ];
    case 'completed':
      return isExpired ? [remove] : [resume, remove];
  }
}
