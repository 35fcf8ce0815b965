/** The report of a batch, or of a job: one HTML file for a browser, offline. */

export { type FailureGroup, failureGroups } from './batch/failures.js';
export { renderFanoutReport } from './batch/render-batch-report.js';
export type { AgentStep, JobReportData } from './job/job-data.js';
export { renderJobReport } from './job/render-job-report.js';
export type { FanoutReportData, ReportContext } from './page-data.js';
