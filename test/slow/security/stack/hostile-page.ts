/** A foreign page in a real browser on the user's machine, and all its attempts. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

/** A name of the attacker that now resolves to this machine (DNS rebinding). */
const reboundName = 'rebound.example';
const script = readFileSync(new URL('hostile-page-script.js', import.meta.url), 'utf8');

export interface Attempt {
  readonly port: number;
  /** The id of the workflow that this page would start. */
  readonly workflowId: string;
  /** Everything that the page could read, as one text. */
  readonly read: string;
  /** Whether a WebSocket was opened. */
  readonly webSocket: boolean;
}

export interface HostilePages {
  /** From a page of another origin: requests that need no permission. */
  fromAnotherOrigin(port: number): Promise<Attempt>;
  /** From a page whose name now resolves to this machine: everything on that port is its own origin. */
  byRebinding(port: number): Promise<Attempt>;
  close(): Promise<void>;
}

export async function createHostilePages(executablePath: string): Promise<HostilePages> {
  const browser: Browser = await chromium.launch({
    executablePath,
    // The browser's sandbox does not work for root, and its own checks for loopback are not our protection.
    args: [
      '--no-sandbox',
      `--host-resolver-rules=MAP ${reboundName} 127.0.0.1`,
      '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
    ],
  });
  const site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>hello'));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const address = site.address();
  const sitePort = typeof address === 'object' && address ? address.port : 0;

  async function attack(url: string, tried: 'anotherOrigin' | 'sameOrigin', port: number): Promise<Attempt> {
    const context: BrowserContext = await browser.newContext();
    try {
      // The first answer comes from the attacker, all others from the port.
      await context.route(
        (wanted) => wanted.hostname === reboundName && wanted.pathname === '/page',
        (route) => route.fulfill({ contentType: 'text/html', body: '<p>hello' }),
      );
      const page = await context.newPage();
      await page.goto(url);
      await page.addScriptTag({ content: script });
      return { port, ...(await page.evaluate<Omit<Attempt, 'port'>>(`${tried}(${port})`)) };
    } finally {
      await context.close();
    }
  }

  return {
    fromAnotherOrigin: (port) => attack(`http://127.0.0.1:${sitePort}/`, 'anotherOrigin', port),
    byRebinding: (port) => attack(`http://${reboundName}:${port}/page`, 'sameOrigin', port),
    async close() {
      await browser.close();
      await new Promise((resolve) => site.close(resolve));
    },
  };
}
