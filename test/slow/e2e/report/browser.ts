/** Opens reports in a real browser, and collects all its complaints. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findChromium } from '../../../../scripts/find-chromium.mjs';
import { type FanoutReportData, renderFanoutReport } from '../../../../src/report/index.js';

/** The browser of this machine, or undefined. */
export const browserPath = findChromium();

export interface OpenReport {
  readonly page: Page;
  /** Messages, errors, requests, dialogs and policy violations of the page, as sentences; empty if there are none. */
  readonly complaints: string[];
}

export interface ReportBrowser {
  open(data: FanoutReportData, options?: BrowserContextOptions): Promise<OpenReport>;
  close(): Promise<void>;
}

export async function createReportBrowser(executablePath: string): Promise<ReportBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-report-'));
  // The browser's sandbox does not work for root, which containers run tests as; the pages are our own.
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  let files = 0;
  return {
    async open(data, options = {}) {
      files += 1;
      const file = join(folder, `report-${files}.html`);
      writeFileSync(file, renderFanoutReport(data));
      const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
      const page = await context.newPage();
      const complaints: string[] = [];
      const address = pathToFileURL(file).href;
      page.on('console', (message) => complaints.push(`says ${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(`throws ${error.message}`));
      page.on('request', (request) => {
        if (request.url() !== address) complaints.push(`asks for ${request.url()}`);
      });
      page.on('dialog', (dialog) => {
        complaints.push(`opens a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      await page.goto(address);
      return { page, complaints };
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * One browser for the tests of a suite, and for each test the report that it opens, which must have no complaints
 * at its end.
 */
export function reportOpener(): {
  open(...args: Parameters<ReportBrowser['open']>): Promise<Page>;
  /** The complaints of the open report; a test that provokes some removes them. */
  complaints(): string[];
} {
  let browser: ReportBrowser;
  let opened: OpenReport | undefined;
  beforeAll(async () => {
    browser = await createReportBrowser(browserPath ?? '');
  });
  afterAll(async () => browser?.close());
  afterEach(async () => {
    await opened?.page.context().close();
    const complaints = opened?.complaints;
    opened = undefined;
    expect(complaints ?? []).toEqual([]);
  });
  return {
    async open(...args) {
      opened = await browser.open(...args);
      return opened.page;
    },
    complaints: () => opened?.complaints ?? [],
  };
}
