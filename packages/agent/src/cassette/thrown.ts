import type { CauseSummary, ErrorData } from '../values/errors.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import { plainFields } from './plain.ts';

/** Maximum depth of nested error causes. */
const deepest = 5;

/** Converts anything thrown to data, from which {@link thrownFrom} creates an equivalent error. */
export function thrownData(thrown: unknown): JsonObject {
  if (AgentError.is(thrown)) return { agentError: plainFields(thrown.toJSON()) };
  return describeThrown(thrown, deepest);
}

/** Creates an error equivalent to the recorded one. */
export function thrownFrom(data: Json | undefined): Error {
  if (!isObject(data)) return new Error('The recorded error cannot be read.');
  const agentError: unknown = data['agentError'];
  if (isObject(agentError)) return new AgentError(agentError as unknown as ErrorData);
  const { name, message, code } = data as Partial<CauseSummary>;
  const error = new Error(
    String(message),
    isObject(data['cause']) ? { cause: thrownFrom(data['cause']) } : {},
  );
  error.name = String(name);
  return code === undefined ? error : Object.assign(error, { code });
}

function describeThrown(thrown: unknown, depth: number): JsonObject {
  const own: JsonObject = { ...summarize(thrown) };
  const cause = causeOf(thrown);
  return cause === undefined || depth === 0 ? own : { ...own, cause: describeThrown(cause, depth - 1) };
}

/** Returns the cause of an error: HTTP clients put it in `cause`, a failed DNS lookup puts it in `errors`. */
function causeOf(thrown: unknown): unknown {
  if (!isObject(thrown)) return undefined;
  const several: unknown = thrown['errors'];
  return thrown['cause'] ?? (Array.isArray(several) ? several[0] : undefined);
}
