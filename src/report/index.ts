/** The report of a batch: one HTML file that people look at in a browser, offline. */

export type { FanoutReportData } from './page-data.js';
export { renderFanoutReport } from './render-report.js';
