/** The page that shows the desktop of a sandbox in a browser. The viewer is noVNC, as Debian installs it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { viewerFolder } from '../machine/index.js';

/** The path of the VNC stream. */
export const streamPath = '/stream';

interface Page {
  readonly type: string;
  readonly content: string | Buffer;
}

const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Desktop</title>
<style>html, body { margin: 0; height: 100%; background: #222 } #screen { height: 100% }</style></head>
<body><div id="screen"></div><script type="module" src="/desktop.js"></script></body>
</html>
`;

const script = `import RFB from '/viewer/core/rfb.js';
const url = new URL('${streamPath}', location.href);
url.protocol = 'ws:';
const rfb = new RFB(document.getElementById('screen'), url.href);
rfb.scaleViewport = true;
rfb.addEventListener('connect', () => { document.title = 'Desktop (connected)'; });
rfb.addEventListener('disconnect', () => { document.title = 'Desktop (disconnected: reload the page)'; });
`;

/** It may load only from its own host name. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self' ws:; img-src data: blob:";

/** @returns undefined if there is no such page */
export async function desktopPage(path: string): Promise<Page | undefined> {
  if (path === '/') return { type: 'text/html; charset=utf-8', content: html };
  const type = 'text/javascript; charset=utf-8';
  if (path === '/desktop.js') return { type, content: script };
  const file = /^\/viewer\/((?:core|vendor)(?:\/[\w-][\w.-]*)+\.js)$/.exec(path)?.[1];
  if (file === undefined) return undefined;
  return await readFile(join(viewerFolder, file)).then(
    (content) => ({ type, content }),
    () => undefined,
  );
}
