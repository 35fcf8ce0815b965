/** What every process of the bench does: it starts with the given settings, reports that, and ends on SIGTERM. */

export interface Serving {
  readonly url?: string;
  close(): Promise<void>;
}

/** A message of a process to the bench, over the channel between them. */
export type ProcessMessage =
  | { readonly kind: 'ready'; readonly url?: string }
  | { readonly kind: 'armed'; readonly workflowId: string; readonly pauseMs: number }
  | { readonly kind: 'ended'; readonly job: string; readonly error?: string };

export function tell(message: ProcessMessage): void {
  process.send?.(message);
}

/** Runs until SIGTERM. The settings are the only argument of the process, as JSON. */
export async function serve<Settings>(start: (settings: Settings) => Promise<Serving>): Promise<void> {
  const ended = new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()));
  const serving = await start(JSON.parse(process.argv[2] ?? '{}') as Settings);
  tell({ kind: 'ready', url: serving.url });
  await ended;
  await serving.close();
  process.disconnect?.();
}
