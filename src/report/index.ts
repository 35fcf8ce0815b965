/** The report of a batch: one HTML file for a browser, offline. */

export type { FanoutReportData } from './page-data.js';
export { renderFanoutReport } from './render-report.js';
