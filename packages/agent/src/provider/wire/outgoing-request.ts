import { LazyAbortSignal } from '../../values/lazy-abort-signal.ts';
import type { TransportRequest } from './transport.ts';

/** A transport that wraps another may copy the request with other headers, and a spread copies only own properties. */
const ownSignal: PropertyDescriptor = {
  ...Object.getOwnPropertyDescriptor(LazyAbortSignal.prototype, 'signal'),
  enumerable: true,
};

/** A request as a transport gets it, and the signal that gives it up. */
export class OutgoingRequest extends LazyAbortSignal implements TransportRequest {
  readonly url: string;
  readonly headers: TransportRequest['headers'];
  readonly body: readonly Uint8Array[];
  readonly whenGivenUp: NonNullable<TransportRequest['whenGivenUp']>;

  constructor(url: string, headers: TransportRequest['headers'], body: readonly Uint8Array[]) {
    super();
    this.url = url;
    this.headers = headers;
    this.body = body;
    this.whenGivenUp = (listener) => this.listen(listener);
    Object.defineProperty(this, 'signal', ownSignal);
  }
}
