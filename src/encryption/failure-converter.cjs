// Puts messages and stacks of failures into payloads, so that the codec encrypts them.
// CommonJS: Temporal's SDK requires this file by its path, in Node and in the bundle of the workflows.
const { DefaultFailureConverter } = require('@temporalio/common');

// The text of `src/protocol/early-query.ts`, which CommonJS cannot import. Clients recognise the refusal by it.
const earlyQueryText = 'The query arrived before the workflow task for the latest events. Ask again.';

const readable = new DefaultFailureConverter();

class EncodedFailureConverter extends DefaultFailureConverter {
  errorToFailure(error, ...converters) {
    if (error?.message !== earlyQueryText) return super.errorToFailure(error, ...converters);
    return { ...readable.errorToFailure(error, ...converters), stackTrace: '' };
  }
}

exports.failureConverter = new EncodedFailureConverter({ encodeCommonAttributes: true });
