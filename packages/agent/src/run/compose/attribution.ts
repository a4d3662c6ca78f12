import type { Agent, ModelResponse, TriedModel } from '../../interfaces/agent.ts';
import { isOwnResponse, ownResponse } from '../../interfaces/own-response.ts';
import { defined } from '../../values/defined.ts';
import type { ErrorData } from '../../values/errors.ts';
import { AgentError } from '../../values/errors.ts';
import type { Usage } from '../../values/usage.ts';
import { addUsage, isNoUsage, noUsage, subtractUsage } from '../../values/usage.ts';

/** Returns the models that a failed request to an agent used, with what each of them spent. */
export function triedBy({ provider, model }: Agent, error: AgentError): readonly TriedModel[] {
  if (error.tried !== undefined) return error.tried;
  const { kind, code, message, attempts, wasted } = error;
  return [Object.freeze({ provider, model, kind, message, ...defined({ code, attempts, wasted }) })];
}

/** Returns the tokens that these models used. */
export function wastedBy(tried: readonly TriedModel[]): Usage {
  return tried.reduce((sum, { wasted = noUsage }) => addUsage(sum, wasted), noUsage);
}

/** Returns the number of requests that these models received. */
export function attemptsOf(tried: readonly TriedModel[]): number {
  return tried.reduce((sum, { attempts = 0 }) => sum + attempts, 0);
}

/** Returns a response of an agent as that of another, which asked these models before. */
export function servedFor(
  asked: Pick<Agent, 'provider' | 'model'>,
  { provider, model }: Agent,
  response: ModelResponse,
  before: readonly TriedModel[] = [],
): ModelResponse {
  const tried = [...before, ...(response.tried ?? [])];
  const isSame = provider === asked.provider && model === asked.model;
  const servedBy = response.servedBy ?? (isSame ? undefined : Object.freeze({ provider, model }));
  if (before.length === 0 && servedBy === response.servedBy) return response;
  const { attempts = 1, wasted = noUsage } = response;
  const whole = Object.freeze({
    ...response,
    attempts: attempts + attemptsOf(before),
    wasted: Object.freeze(addUsage(wasted, wastedBy(before))),
    ...defined({ servedBy }),
    ...(tried.length > 0 && { tried: Object.freeze(tried) }),
  });
  return isOwnResponse(response) ? ownResponse(whole) : whole;
}

/** Returns an error as that of an agent that asked these models. An error that the agent itself could have is unchanged. */
export function failedFor(
  asked: Pick<Agent, 'provider' | 'model'>,
  error: AgentError,
  tried: readonly TriedModel[],
): AgentError {
  const [only, second] = tried;
  const isOwn = only?.provider === asked.provider && only.model === asked.model;
  if (only === undefined || (isOwn && second === undefined)) return error;
  const [attempts, wasted] = [attemptsOf(tried), wastedBy(tried)];
  return new AgentError({
    ...error.toJSON(),
    tried: Object.freeze([...tried]),
    ...(attempts > 0 && { attempts }),
    ...(!isNoUsage(wasted) && { wasted: Object.freeze(wasted) }),
  });
}

/** Returns the error of a response that is discarded. What was used counts for the models that used it. */
export function discardedFor(
  error: ErrorData,
  { usage, wasted, attempts, servedBy, tried = [] }: ModelResponse,
): AgentError {
  const all = addUsage(usage, wasted);
  const { kind, code, message } = error;
  const own = {
    attempts: Math.max(0, attempts - attemptsOf(tried)),
    wasted: subtractUsage(all, wastedBy(tried)),
  };
  const last = servedBy && { ...servedBy, kind, message, ...defined({ code }), ...own };
  const models = last === undefined ? tried : [...tried, last];
  return new AgentError({ ...error, wasted: all, attempts, ...(models.length > 0 && { tried: models }) });
}
