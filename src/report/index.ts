/** The report of a batch: one HTML file that people look at in a browser, offline. */
export { renderFanoutReport } from './render-report.js';
export type { FanoutReportData } from './report-data.js';
