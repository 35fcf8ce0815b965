import { ServiceError } from '../../service-error.js';
import type { Operations } from '../operation.js';

const refuse = (): never => {
  throw new ServiceError(501, 'http_501', 'The local service does not answer this endpoint yet.');
};

export const notYetOperations = {
} satisfies Partial<Operations>;
