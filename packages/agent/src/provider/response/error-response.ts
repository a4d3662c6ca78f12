import { AgentError } from '../../values/errors.ts';
import type { Runtime } from '../../values/runtime.ts';
import type { ResolvedEndpoint } from '../http/address.ts';
import type { ErrorBody } from '../http/error-body.ts';
import { retryAfterOf, usableWait } from '../http/retry-after.ts';
import type { OpenFraming } from '../wire/framing.ts';
import type { RawResponse } from '../wire/transport.ts';
import type { Fault, Wire } from '../wire/wire.ts';
import { faultError } from './fault.ts';

const shownBody = 200;

/** A rejected response with its body. */
export interface RejectedResponse {
  readonly wire: Wire;
  readonly runtime: Runtime;
  readonly framing: OpenFraming;
  readonly address: ResolvedEndpoint;
  readonly response: RawResponse;
  readonly body: ErrorBody;
}

/** Returns the error for a response that is not a model response: a failure, a redirect, or a body of another type. */
export function refusal(refused: RejectedResponse): AgentError {
  const { status } = refused.response;
  if (status >= 200 && status < 300) return wrongType(refused);
  if (status >= 300 && status < 400) return redirect(refused);
  return httpFault(refused);
}

function httpFault(refused: RejectedResponse): AgentError {
  const { wire, runtime, response } = refused;
  const header = (name: string) => response.header(name.toLowerCase());
  const requestId = wire.requestIdHeader === undefined ? undefined : header(wire.requestIdHeader);
  const fault = describe(refused, header);
  return faultError(wire.provider, {
    ...fault,
    status: response.status,
    retryAfterMs: usableWait(fault.retryAfterMs) ?? retryAfterOf(header, () => runtime.now()),
    requestId,
  });
}

/** Returns the wire's description of a failure. If the wire throws or gives no message, only the HTTP status is reported. */
function describe(refused: RejectedResponse, header: (name: string) => string | undefined): Fault {
  try {
    const fault = refused.wire.fault(refused.response.status, bodyText(refused), header);
    if (typeof fault.message === 'string') return fault;
  } catch {}
  return { message: '' };
}

function wrongType(refused: RejectedResponse): AgentError {
  const { wire, framing, address, response } = refused;
  const type = response.header('content-type');
  const begin = bodyText(refused).trim().slice(0, shownBody);
  return new AgentError({
    kind: 'agent',
    code: 'content_type',
    status: response.status,
    provider: wire.provider,
    message: `${address.host} sent ${type} instead of ${framing.contentTypes[0]}: the URL is not that of the model service, or a proxy responded. Check the base URL. The response starts with: ${begin}`,
  });
}

function redirect(refused: RejectedResponse): AgentError {
  const { wire, address, response } = refused;
  const target = URL.parse(response.header('location') ?? '', address.url);
  const where = target === null ? 'another URL' : target.origin;
  return new AgentError({
    kind: 'invalid',
    code: 'redirect',
    status: response.status,
    provider: wire.provider,
    message: `${address.host} redirects to ${where}. Redirects are not followed, because the key would be sent to that URL. Set the base URL to the final URL.`,
  });
}

function bodyText({ address, body }: RejectedResponse): string {
  // Scrubbed before truncation, because part of a key could no longer be found.
  return body.isCut ? address.redactor.cutText(body.text) : address.redactor.text(body.text);
}
