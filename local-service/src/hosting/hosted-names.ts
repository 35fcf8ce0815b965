/**
 * The host names of what a sandbox hosts. Names below `localhost` lead to this machine in browsers and curl. Each
 * sandbox and port is one label, and so a site of its own in a browser: pages of one sandbox share neither cookies nor
 * storage with those of another.
 */
import type { SandboxRecord } from '../store/sandbox-record.js';

/** What a host name leads to: a port of the sandbox, its desktop, or the sandbox itself. */
export type HostedPlace = number | 'desktop' | 'machine';

export interface HostedName {
  readonly sandboxId: string;
  readonly subdomain: string;
  readonly place: HostedPlace;
}

type Named = Pick<SandboxRecord, 'id' | 'subdomain'>;

/** The three words are not unique, so the characters of the id follow them. */
const labelOf = ({ id, subdomain }: Named): string => `${subdomain}-${id.slice('bx_'.length)}`;

/** @param port the port of the service */
export function hostedUrl(sandbox: Named, place: HostedPlace, port: number | undefined): string {
  const before = place === 'machine' ? '' : `${place}-`;
  return `http://${before}${labelOf(sandbox)}.localhost:${port ?? ''}/`;
}

/** With `box-` before it, the name is in the older form (specification, "Versioning"). */
const pattern = /^(?:box-)?(?:(\d{1,5}|desktop)-)?([a-z]+-[a-z]+-[a-z]+)-([a-z2-9]{8})\.localhost(?::\d+)?$/i;

/** @returns undefined for the `Host` of a request to the API */
export function parseHostedName(host: string | undefined): HostedName | undefined {
  const [, before, subdomain, id] = pattern.exec(host ?? '') ?? [];
  if (subdomain === undefined || id === undefined) return undefined;
  const place = before === undefined ? 'machine' : before.toLowerCase() === 'desktop' ? 'desktop' : Number(before);
  return { sandboxId: `bx_${id.toLowerCase()}`, subdomain: subdomain.toLowerCase(), place };
}
