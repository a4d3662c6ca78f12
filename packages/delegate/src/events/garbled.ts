import type { BackendEvent, End } from './backend-event.ts';

/** Returns the end of a task whose output has a gap, which a retry may not have. */
export function garbled(provider: string, why: string): End {
  const message = `The output of ${provider} is invalid: ${why}.`;
  return {
    type: 'end',
    ok: false,
    error: { kind: 'network', code: 'garbled', message, provider, retryable: true },
  };
}

/** Returns true for the end of a task whose output has a gap. */
export function isGarbled(event: BackendEvent): event is End {
  return event.type === 'end' && event.error?.code === 'garbled';
}
