// Puts messages and stacks of failures into payloads, so that the codec encrypts them.
// CommonJS: Temporal's SDK requires this file by its path, in Node and in the bundle of the workflows.
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
