/** Runs activities that make one call. `make` also takes from the answer what the workflow needs. */
import { orNullWhenMissing } from '../../src/client/missing.js';
import { repeatable } from './attempt.js';

type Make<Value> = (options: { readonly signal: AbortSignal }) => Promise<Value>;

/** @throws as `repeatable` */
export function oneCall<Value>(make: Make<Value>): Promise<Value> {
  return repeatable(({ call }) => call((signal) => make({ signal })));
}

/** As `oneCall`; null if the service reports that the resource does not exist. */
export function oneCallIfThere<Value>(make: Make<Value>): Promise<Value | null> {
  return repeatable(({ call }) => orNullWhenMissing(call((signal) => make({ signal }))));
}
