import type { AgentError } from '@cobbler/agent';
import { formatMs } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';

/** The context of the failed request, in addition to its error. */
export interface FailureContext {
  /** The host that received the requests. */
  readonly host: string;
  readonly model: string;
  readonly provider: string;
  /** For example `ANTHROPIC_API_KEY`; absent if no key was sent. */
  readonly keySource?: string;
  readonly verbose: boolean;
  /** The name of the command, if it can explain the code. */
  readonly name?: string;
}

/** A failure for display: what happened and what to do. */
export interface Failure {
  readonly what: string;
  readonly advice: readonly string[];
}

const maxShown = 400;

/** Describes an error without response bodies and stack traces. The request id is included only on request. */
export function failureOf(error: AgentError, context: FailureContext): Failure {
  if (error.code === 'replay_miss') return mismatchOf(error);
  const { what, advice } = byKind(error, context);
  const id =
    context.verbose && error.requestId !== undefined ? [`Request id: ${oneLine(error.requestId)}`] : [];
  const more =
    context.name !== undefined && error.code !== undefined
      ? [`More: ${context.name} explain ${oneLine(error.code)}`]
      : [];
  return { what, advice: [...advice, ...more, ...id] };
}

function byKind(error: AgentError, context: FailureContext): Failure {
  switch (error.kind) {
    case 'auth':
      return refusedKey(error, context);
    case 'rate_limit':
      return { what: placed(error, context), advice: [waitAdvice(error)] };
    case 'network':
      return {
        what: messageOf(error).includes(context.host)
          ? messageOf(error)
          : `The connection to ${context.host} broke: ${messageOf(error)}`,
        advice: [
          'Check the network and the address, then try again. cobbler doctor --live tests the connection.',
        ],
      };
    case 'timeout':
      return {
        what: messageOf(error).includes(context.host)
          ? messageOf(error)
          : `${context.host}: ${messageOf(error)}`,
        advice: ['Try again, or raise requestTimeout in the configuration.'],
      };
    case 'invalid':
      return invalidFailure(error, context);
    case 'agent':
    case 'tool':
    case 'aborted':
    case 'limit':
      return {
        what: error.status === undefined ? messageOf(error) : placed(error, context),
        advice: error.code === 'no_ending' ? [] : [agentAdvice(error)],
      };
  }
}

function agentAdvice({ retryable }: AgentError): string {
  return retryable ? 'Try again later.' : 'Try again; cobbler doctor --live tests the connection.';
}

/** Describes a replay mismatch. Its message is formatted for a terminal and shows the difference line by line. */
function mismatchOf(error: AgentError): Failure {
  const [what = '', ...where] = error.message.split('\n').map(oneLine);
  return {
    what,
    advice: [
      ...where,
      'If the change is intended, record the cassette again: cobbler --replay FILE --refresh',
    ],
  };
}

/** Login advice for backends, which have their own keys. */
const logins: Readonly<Record<string, string>> = {
  'claude-code': 'Log in with: claude /login   or: export ANTHROPIC_API_KEY=...',
  codex: 'Log in with: codex login   or: export OPENAI_API_KEY=...',
};

function refusedKey(error: AgentError, context: FailureContext): Failure {
  const login = logins[context.provider];
  if (login !== undefined) return { what: `${context.provider}: ${oneLine(error.message)}`, advice: [login] };
  // A Cobbler server says which tokens may do this.
  if (context.provider === 'server' && error.code === 'scope') return { what: messageOf(error), advice: [] };
  const key =
    context.keySource === undefined ? 'the request without a key' : `the key from ${context.keySource}`;
  const verb = error.status === 403 ? 'lacks permission' : 'was rejected';
  return {
    what: `${error.status ?? 401} from ${context.host}: ${key} ${verb}.`,
    advice: [
      `Set a new one with cobbler config set-key ${context.provider}, or check the setup: cobbler doctor`,
    ],
  };
}

function invalidFailure(error: AgentError, context: FailureContext): Failure {
  if (error.code === 'unpriced') {
    return {
      what: `The price of ${oneLine(context.model)} is unknown, so --max-usd cannot be enforced.`,
      advice: [
        'Set its price under "prices" in the configuration, use --max-tokens instead, or accept the unknown cost: --allow-unpriced',
      ],
    };
  }
  const what = error.status === undefined ? messageOf(error) : placed(error, context);
  if (error.status === 404) return { what, advice: ['List the models: cobbler models'] };
  return { what, advice: [] };
}

function placed(error: AgentError, context: FailureContext): string {
  // The message names the status too.
  const message = messageOf(error).replace(` (${error.status})`, '');
  const from = error.status === undefined ? context.host : `${error.status} from ${context.host}`;
  return `${from}: ${message}`;
}

/** Returns the error's own message, short and escaped. A response that is a page or JSON is not quoted. */
function messageOf(error: AgentError): string {
  const text = oneLine(error.message);
  const prose = /^\s*[[{<]/.test(text) ? `the service returned an unexpected response.` : text;
  return prose.length > maxShown ? `${prose.slice(0, maxShown)}…` : prose;
}

function waitAdvice(error: AgentError): string {
  const tries = error.attempts === undefined || error.attempts < 2 ? '' : ` after ${error.attempts} attempts`;
  if (error.retryAfterMs === undefined) return `Cobbler gave up${tries}. Try again later.`;
  return `Cobbler gave up${tries}. Try again in ${formatMs(error.retryAfterMs)}.`;
}
